"""Long work as rows that survive restarts: start_job (lifecycle.py), Progress, and register_jobs (registry.py)."""
