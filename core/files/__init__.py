"""artifact_path, writing, check_sha256 (artifacts.py), written_aside (atomic_write.py), csv_of, lines_of."""
