"""Pages of annotators, adjudicators and managers, one module for each subject.

find_campaign.py finds the campaign for the person who asks.
"""
