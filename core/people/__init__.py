"""Roles and rights (roles.py, permissions.py), API tokens (tokens.py) and the audit log: record (audit_log.py)."""
