"""The base of API v1: Endpoint (base.py), Listing and One (listing.py), authentication, throttling and the OpenAPI
document.
"""
