"""The template tag of the pooling pages that draws the stages of a pool (stages.py)."""
