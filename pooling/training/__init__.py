"""Train systems as jobs, and keep them: names, settings, seeds, curves and files of what was learned.

Others use create_systems, get_systems, shown_systems, systems_with_runs and family_of (train.py), add_system,
train_anew, archive and restore (upkeep.py), seed_families and unlike_seeds (seed_families.py), compare (compare.py),
the charts of curves.py, and open_file (files.py).
"""
