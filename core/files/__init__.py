"""artifact_path, writing, check_sha256 (artifacts.py), written_aside (atomic_write.py), csv_of (csv_cells.py)."""
