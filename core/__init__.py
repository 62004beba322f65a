"""Hold what belongs to no subject: jobs, files, database helpers, people, the base of the API, and the frame of pages.

Every other app may import it; it imports none of them.
"""
