"""Define the signals that other apps receive."""

from django.dispatch import Signal

# arguments: site, its address. `serve` sends it before it starts anything; receivers answer with what it prints to the
# terminal once the site is up, or "".
serving = Signal()
