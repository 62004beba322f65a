"""Define the signals that other apps receive."""

from django.dispatch import Signal

# arguments: pool, tell(done, total) or None. The job that added triples to a ready pool sends it once they are
# committed, and so does each later attempt of the job: receivers continue from what is there.
pool_grew = Signal()

# arguments: pool. A receiver answers True if people have been given what the pool's filters left: then these stay.
is_judged = Signal()

# arguments: pools (ready ones). A receiver answers by pool id how far their labels are, as the pill of a pool says it:
# pooling.pools.states.Pill; pools that nobody has begun to label are left out.
labelling_asked = Signal()

# no arguments. A receiver answers the pace of this site's labels (pooling.pools.effort.Pace), or None without any.
pace_asked = Signal()

# arguments: system. Receivers answer with sentences, each a reason why its run must stay as it is.
run_uses = Signal()
