"""The error of backups, and of what reads and signs them."""

from core.errors import UserError


class BackupError(UserError):
    """Say why a backup cannot be written, read or restored."""
