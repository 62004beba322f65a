"""What other apps hear of."""

from django.dispatch import Signal

# pool=Pool, tell(done, total) or nothing; sent by the job that added triples to a pool that is ready, once they are
# committed, and again by each later attempt of it: who listens goes on from what is there
pool_grew = Signal()
