"""Let people label over HTTP while everything below them fails, and check that no label is lost or doubled.

`manage.py chaos` calls `campaign.py`, which plays it: a site of its own (`site.py`, prepared by `prepare.py`), whose
connections to PostgreSQL and Redis go through relays (`relay.py`), people and a manager (`people.py`), and faults drawn
with a seed (`faults.py`; `skewed.py` is a worker whose clock is wrong). `verdict.py` then compares what was
acknowledged with what is stored, in plain SQL and by none of the code that it checks.
"""
