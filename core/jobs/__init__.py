"""Long work as rows that survive restarts.

Others call start_job, cancel_job, retry_job (lifecycle.py), report with Progress (progress.py), and register their
kinds with register_jobs (registry.py).
"""
