"""Archive (`archive.py`), delete (`removal.py`: `preview`, `remove`), back up (`backup.py`: `write_backup`) and restore
(`restore.py`: `restore`).
"""
