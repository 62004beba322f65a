"""What other apps hear of."""

from django.dispatch import Signal

# pool=Pool; sent inside the transaction that added triples to a pool that is ready
pool_grew = Signal()
