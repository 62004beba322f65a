"""Draw docs/images/packages.svg from the imports: python docs/write_architecture.py."""

import sys
from itertools import combinations
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "images" / "packages.svg"
APPS = ("core", "pooling", "annotation", "evaluation")
# listed by kind, not by subject: what Django users look for
KINDS = {"admin", "api", "apps", "checks", "enums", "errors", "forms", "jobs", "management", "migrations", "models"}
KINDS |= {"permissions", "progress", "signals", "tasks", "templatetags", "urls", "views"}
WIDTH, BOX, ROW, STEP, LEFT = 1000, (88, 24), 32, 101, 16
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t d">
  <title id="t">The packages of TriplePool and what they import</title>
  <desc id="d">{about}</desc>
  <style>
    .ground {{ fill: #ffffff; stroke: #c9ced8; }}
    .band {{ fill: #f3f5f9; }}
    .box {{ fill: #ffffff; stroke: #5c6577; }}
    .line {{ fill: none; stroke: #8d96a8; }}
    .tip {{ fill: #8d96a8; }}
    text {{ font: 12.5px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #14171f; text-anchor: middle; }}
    .app {{ font-weight: 600; text-anchor: start; }}
    @media (prefers-color-scheme: dark) {{
      .ground {{ fill: #14171f; stroke: #3a4252; }}
      .band {{ fill: #1d222d; }}
      .box {{ fill: #262c39; stroke: #98a2b6; }}
      text {{ fill: #eef1f6; }}
    }}
  </style>
  <defs>
    <marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">
      <path class="tip" d="M0 0 8 4 0 8z"/>
    </marker>
  </defs>
  <rect class="ground" x="1" y="1" width="{inner}" height="{bottom}" rx="8"/>
"""

Arrows = dict[str, set[str]]


def arrows_of(graph: grimp.ImportGraph, app: str) -> Arrows:
    """Return what each subject package of an app imports directly from the others, by name."""
    found = sorted(graph.find_children(app))
    names = [m for m in found if m.split(".")[1] not in KINDS or m == "core.jobs"]
    names = [m for m in names if graph.find_children(m)]
    arrows: Arrows = {name.split(".")[1]: set() for name in names}
    for one, other in combinations(names, 2):
        for a, b in ((one, other), (other, one)):
            if graph.direct_import_exists(importer=a, imported=b, as_packages=True):
                arrows[a.split(".")[1]].add(b.split(".")[1])
    return arrows


def reachable(arrows: Arrows, start: str) -> set[str]:
    """Return every package that `start` imports, directly or through others."""
    found = set(arrows[start])
    for name in arrows[start]:
        found |= reachable(arrows, name)
    return found


def reduced(arrows: Arrows) -> Arrows:
    """Leave out arrows that follow from others, so that the picture can be read."""
    return {
        name: {to for to in tos if not any(to in reachable(arrows, other) for other in tos - {to})}
        for name, tos in arrows.items()
    }


def levels(arrows: Arrows) -> dict[str, int]:
    """Return how many packages the longest chain of imports below each has."""

    def level(name: str) -> int:
        return 1 + max((level(to) for to in arrows[name]), default=-1)

    return {name: level(name) for name in arrows}


def band(app: str, arrows: Arrows, top: int) -> tuple[list[str], int]:
    """Draw an app from `top`: its packages from left to right in the order of imports; the lines and the bottom."""
    level, at, rows = levels(arrows), {}, {}
    near = {name: sum(name in tos and level[one] == level[name] + 1 for one, tos in arrows.items()) for name in arrows}
    for name in sorted(arrows, key=lambda name: (level[name], -near[name], name)):
        row = rows[level[name]] = rows.get(level[name], -1) + 1
        at[name] = (LEFT + 66 + level[name] * STEP, top + 28 + row * ROW)
    bottom = top + 28 + (max(rows.values()) + 1) * ROW + 8
    lines = [
        f'  <rect class="band" x="{LEFT}" y="{top}" width="{WIDTH - 2 * LEFT}" height="{bottom - top}" rx="6"/>',
        f'  <text class="app" x="{LEFT + 12}" y="{top + 18}">{app}</text>',
    ]
    for name, tos in reduced(arrows).items():
        for to in sorted(tos):
            x, y = at[name][0], at[name][1] + BOX[1] // 2
            end, height = at[to][0] + BOX[0] + 2, at[to][1] + BOX[1] // 2
            path = f"M{x} {y}C{x - 16} {y} {end + 16} {height} {end} {height}"
            lines.append(f'  <path class="line" d="{path}" marker-end="url(#a)"/>')
    for name, (x, y) in at.items():
        lines.append(f'  <rect class="box" x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="4"/>')
        lines.append(f'  <text x="{x + BOX[0] // 2}" y="{y + 16}">{name}</text>')
    return lines, bottom


def text() -> str:
    """Return the picture as SVG."""
    graph = grimp.build_graph(*APPS, cache_dir=None)
    body, about, top = [], [], 14
    for app in APPS:
        arrows = arrows_of(graph, app)
        lines, bottom = band(app, arrows, top)
        body += lines
        top = bottom + 10
        level = levels(arrows)
        order = sorted(arrows, key=lambda name: (level[name], name))
        about.append(f"{app.capitalize()}: {', '.join(order)}.")
    height = top + 6
    head = HEAD.format(width=WIDTH, height=height, inner=WIDTH - 2, bottom=height - 2, about=" ".join(about))
    return head + "\n".join(body) + "\n</svg>\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PATH.write_text(text(), encoding="utf-8")
