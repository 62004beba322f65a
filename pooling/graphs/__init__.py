"""Knowledge graphs: read them from a source, check them, store them as files, open them.

`tsv.py` reads folders of TSV files (`read_tsv`), `bundled.py` PyKEEN's datasets and family trees (`read_pykeen`,
`family_tree`). `imports.py` stores what they return as a graph (`import_graph`). `opening.py` gives others the graph
back (`get_graph`, `open_graph`, `entity_texts`, `given_templates`, `closed_world_triples`). Errors are
`source_data.GraphError`; `kernels/` holds arrays, degrees, relation categories and the family trees.
"""
