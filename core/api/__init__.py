"""The base of API v1: Endpoint (base.py), Listing and One (listing.py), tokens, throttling, the OpenAPI document."""
