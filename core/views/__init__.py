"""Parts of pages of all apps: decorators (access.py), posted acts (acts.py), SignedInRequest (requests.py), downloads,
uploads and pagination; and the page of API tokens.
"""
