"""Signals through which other apps take part in decisions of this one."""

from django.dispatch import Signal

# sent with campaign=Campaign; a receiver returns why no batch should be released, or ""
batch_wanted = Signal()
