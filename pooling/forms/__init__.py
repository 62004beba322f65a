"""Forms of the pooling pages, a file for each subject. They check shape; refusals of the domain appear at them too.

Others use DEVICES (systems.py).
"""
