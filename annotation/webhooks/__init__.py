"""Tell other programs what happens: managers name an address, and a worker sends it signed messages.

`events.py` notes what happened in the transaction of the act; `deliveries.py` sends it from a job; `addresses.py` says
where a message may go; `signing.py` says who it is from; `upkeep.py` is what managers do.
"""
