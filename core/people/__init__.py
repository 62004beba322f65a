"""Roles and rights (roles.py), API tokens (tokens.py) and the audit log: record (audit_log.py)."""
