#!/usr/bin/env python3
"""Django's command line: python manage.py help."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough: `manage.py pool_report P | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)  # as a program that is ended by SIGPIPE
    except ImproperlyConfigured as error:  # a setting: its message says which, and what to write
        sys.exit(f"ImproperlyConfigured: {error}")
