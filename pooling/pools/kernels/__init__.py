"""Compute on the arrays of a pool, without Django: gather and merge candidates, filter them, draw seeds, count overlap.

A filter is a row of FILTERS in filters.py; filter_base.py says what it sees.
"""
