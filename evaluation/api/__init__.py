"""Endpoints of API v1: measures and evaluations (views.py), qrels (qrels.py), exports (exports.py).

serializers.py has the JSON of all of them. Nothing else imports this package but its URLs.
"""
