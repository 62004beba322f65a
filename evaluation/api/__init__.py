"""Endpoints of API v1: measures and evaluations (views.py), qrels and exports (test_sets.py), and their JSON."""
