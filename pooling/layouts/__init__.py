"""Read graphs as other people publish them: find the layout of a folder, archive or file, and show what was found.

Others use `read_layout` and `LayoutOptions` (recognise.py), and `preview_lines` (preview.py). A layout is one module
here and its entry in LAYOUTS.
"""
