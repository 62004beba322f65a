"""Archive, delete, back up and restore.

`archive.py` (`archive`, `take_back`) takes graphs and pools out of the lists and back; `removal.py` (`preview`,
`remove`) deletes; `backup.py` (`write_backup`) writes a backup; `restore.py` (`restore`) puts it
into an empty place.
"""
