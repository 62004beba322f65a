#!/usr/bin/env python3
"""Django's command line: python manage.py help."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from triplepool.shell import quiet_end

    with quiet_end():
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line

        try:
            execute_from_command_line(sys.argv)
            sys.stdout.flush()
        except ImproperlyConfigured as error:  # a setting: its message says which, and what to write
            sys.exit(f"ImproperlyConfigured: {error}")
