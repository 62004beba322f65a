"""artifact_path, writing, check_sha256 (artifacts.py), local, publish, delete (storage.py), written_aside, csv_of."""
