"""Run Celery as on a machine whose clock is SECONDS ahead: python -m benchmarks.chaos.skewed SECONDS ARGUMENT …

Only this process and those that it forks see the wrong time. The monotonic clock stays right, as on such a machine.
"""

import sys
import time
from datetime import timedelta

from django.utils import timezone

if __name__ == "__main__":
    seconds = float(sys.argv[1])
    true_time, true_now = time.time, timezone.now
    time.time = lambda: true_time() + seconds
    timezone.now = lambda: true_now() + timedelta(seconds=seconds)

    from celery.__main__ import main  # after the change, so that its modules import the wrong time

    sys.argv = ["celery", *sys.argv[2:]]
    main()
