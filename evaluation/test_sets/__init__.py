"""Export the completed test set of frozen qrels, and import one that was judged elsewhere.

`export.py` (`export_test_set`, `export_trec`) writes a folder; `files.py` (`FILES`) registers its files; `content.py`
has `ExportOptions`; `zip_file.py` (`request_export`, `zip_path`) packs it in a job; `trec.py` writes TREC files;
`imports.py` (`import_test_set`) makes a pool and qrels from a judgement file.
"""
