"""The tag that draws the tabs of a campaign (campaign_tabs.py)."""
