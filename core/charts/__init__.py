"""Draw charts as SVG on the server: lines, slopes, rows of dots, bars, matrices, maps.

`draw.chart_html` takes a chart as analyses describe it (kind, data) and returns a wide and a narrow drawing; the style
sheet shows the one that fits. kept.py keeps what was drawn last. scales.py turns values into pixels, marks.py writes
elements, labels.py keeps names apart, frame.py draws axes; every other file draws one kind. Colours are classes of
static/css/charts.css, so the drawings follow the theme. Nothing here needs JavaScript; static/js/lib/charts.js adds
hover and highlight.
"""
