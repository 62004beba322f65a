"""Pictures of the demo for README.md and docs/annotation.md, by the browser of the tests.

    make demo                          in one shell
    .venv/bin/python docs/screenshots.py [--url http://127.0.0.1:8000] [--logins var/demo-logins.txt]

Writes docs/images/<name>-light.png and -dark.png. Signs in as the people of the demo; answers nothing. Wait two
minutes after the demo was made: only then is a dispute open.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
WIDTH, HEIGHT = 1200, 800
LARGEST = 200_000  # bytes of one picture


class Shot(NamedTuple):
    name: str
    login: str
    path: str
    ready: str  # what must be on the page before the picture is taken
    scroll_to: str = ""  # what stands at the top of the picture; empty: the page's own top
    view: str = "one"  # of the annotation page


SHOTS = (
    Shot("status", "demo-manager", "/pools/demo", "main h1"),
    Shot("annotate", "demo-annotator", "/campaigns/demo/annotate", "[data-answer], button[value=Y]"),
    Shot("by-question", "demo-annotator", "/campaigns/demo/annotate", "[data-rows] .candidate", view="group"),
    Shot("adjudicate", "demo-adjudicator", "/campaigns/demo/adjudicate", "[data-given] article"),
    Shot("campaign", "demo-manager", "/pools/demo/campaign", "main h1"),
    Shot("annotators", "demo-manager", "/pools/demo/campaign/annotators", "main table"),
    Shot("evaluation", "demo-researcher", "/pools/demo/evaluation", "svg"),
)


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.chromium import launched

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--logins", type=Path, default=ROOT / "var" / "demo-logins.txt")
    options = parser.parse_args()
    passwords = dict(line.split() for line in options.logins.read_text(encoding="utf-8").splitlines())
    IMAGES.mkdir(parents=True, exist_ok=True)
    with launched() as browser:
        for path in pictures(browser, options.url.rstrip("/"), passwords):
            size = path.stat().st_size
            print(f"{path.relative_to(ROOT)}  {size:,} bytes")
            if size > LARGEST:
                raise SystemExit(f"{path.name} is larger than {LARGEST:,} bytes: make the page's picture smaller.")


def pictures(browser: "Browser", url: str, passwords: dict[str, str]) -> Iterator[Path]:
    for shot in SHOTS:
        context = browser.new_context(base_url=url, viewport={"width": WIDTH, "height": HEIGHT})
        kept = {"triplepool:view": shot.view, "triplepool:guidelines:demo": "1000"}  # nothing to be reminded of
        context.add_init_script("".join(f"localStorage.setItem({key!r}, {value!r});" for key, value in kept.items()))
        page = context.new_page()
        sign_in(page, shot.login, passwords[shot.login])
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.goto(shot.path)
            page.locator(shot.ready).first.wait_for(timeout=30_000)
            page.wait_for_load_state("networkidle")
            if shot.scroll_to:
                page.locator(shot.scroll_to).first.evaluate("element => element.scrollIntoView()")
            path = IMAGES / f"{shot.name}-{scheme}.png"
            page.screenshot(path=path)
            yield path
        context.close()


def sign_in(page: "Page", name: str, password: str) -> None:
    page.goto("/login")
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(password)
    page.locator("[name=password]").press("Enter")
    page.wait_for_url(lambda address: not address.endswith("/login"))


if __name__ == "__main__":
    main()
