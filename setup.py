"""Build the wheel: beside `triplepool`, the site in triplepool/_site and the notebook library in triplepool/_lib.

The folders of the checkout have names that other projects use too. In a wheel none of them is at the top: the command
`triplepool` puts `_site` on the path of its own process, and the library is a copy whose imports are rewritten.
"""

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
APPS = ("core", "pooling", "annotation", "evaluation")
SITE = ("config", *APPS, "templates", "static", "fixtures", "docs", "manage.py")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")
NOT_SHOWN = shutil.ignore_patterns("*.py", "*.tsv", "images", "measured", "site")  # the help pages show text alone
DOOR = ("evaluation", "evaluation.notebooks.example")  # what `triplepool` and `triplepool.example` give
LIBRARY = "triplepool._lib"
APP = "|".join(APPS)
# an import of a module of an app; `>>>` before it: in the example of a docstring
IMPORT = re.compile(rf"^(\s*(?:>>> )?)from ({APP})(?=[. ])", re.M)
HOME = re.compile(rf'"(?=(?:{APP})\.)')  # modules that the door names as text


def file_of(module: str) -> Path | None:
    """Return the file of a module of the checkout, or None if there is none."""
    path = ROOT.joinpath(*module.split("."))
    return next((one for one in (path / "__init__.py", path.with_suffix(".py")) if one.is_file()), None)


def imported(file: Path) -> Iterator[str]:
    """Yield the names that a file imports from the apps: of modules, and of what is in them."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import) and any(name.name.split(".")[0] in APPS for name in node.names):
            raise SystemExit(f"{file}:{node.lineno}: write `from … import …`, which the build can rewrite.")
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in APPS:
            yield from (str(node.module), *(f"{node.module}.{name.name}" for name in node.names))


def library_files() -> dict[str, Path]:
    """Return module -> file of all that the door of the notebook library leads to."""
    found: dict[str, Path] = {}
    waiting = list(DOOR)
    while waiting:
        module = waiting.pop()
        file = file_of(module)
        if file is None or module in found:
            continue
        found[module] = file
        parent, _, _ = module.rpartition(".")
        waiting += [*([parent] if parent else []), *imported(file)]
    return found


def library_text(module: str, text: str) -> str:
    """Return the text of a module with imports that stay inside the library."""
    text = IMPORT.sub(rf"\1from {LIBRARY}.\2", text)
    return HOME.sub(f'"{LIBRARY}.', text) if module == "evaluation" else text


class Build(build_py):
    """Build `triplepool`, then what lies inside it; an editable install has the checkout for both."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            inside = Path(self.build_lib, "triplepool")
            self.write_site(inside / "_site")
            self.write_library(inside / "_lib")

    def write_site(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in SITE:
            if (ROOT / name).is_dir():
                left_out = NOT_SHOWN if name == "docs" else LEFT_OUT
                shutil.copytree(ROOT / name, folder / name, ignore=left_out)
            else:
                shutil.copy(ROOT / name, folder / name)

    def write_library(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text('"""The notebook library: copied from the apps by setup.py."""\n')
        for module, file in library_files().items():
            path = folder / file.relative_to(ROOT)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(library_text(module, file.read_text(encoding="utf-8")), encoding="utf-8")


setup(cmdclass={"build_py": Build})
