"""Endpoints of API v1 for campaigns (campaigns.py) and for labels, decisions and reports (views.py).

serializers.py makes the answers, schema.py describes their shapes. Nothing else imports this package but its URLs.
"""
