"""Roles and rights (roles.py), API tokens (tokens.py), the audit log (audit_log.py), languages (languages.py)."""
