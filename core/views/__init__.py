"""Parts of pages of all apps: decorators (access.py), posted acts, files, pagination; and the page of API tokens."""
