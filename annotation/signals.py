"""What other apps may have a say in."""

from django.dispatch import Signal

# campaign=Campaign; a receiver returns the reason why no batch should be released, or ""
batch_wanted = Signal()
