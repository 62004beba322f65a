"""Forms of the pages, named like their views."""
