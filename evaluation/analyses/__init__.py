"""Build the analysis pages: one file per page, or per heavy part of one, each with its ANALYSIS."""
