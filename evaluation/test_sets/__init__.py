"""Export the completed test set of frozen qrels, and import one that was judged elsewhere.

`export.py` writes a folder (`export_test_set`, `export_trec`) or a zip file (`request_export`, `zip_path`); `files.py`
registers its files (`FILES`) and has `ExportOptions`; `imports.py` (`import_test_set`) makes a pool and qrels of a
file, `restore.py` (`restore_test_set`) takes back what was exported.
"""
