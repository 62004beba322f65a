"""People judge the items of a pool: sources, questions, release, labelling, people, campaigns, quality and simulation,
each in its own package.
"""
