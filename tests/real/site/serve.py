#!/usr/bin/env python3
"""Serve the pages of this folder on port 80 of an address, and hold back the answer of /slow.

usage: serve.py ADDRESS

/slow answers after ten seconds, so that a test can look at a call that is still running.
"""

import functools
import http.server
import pathlib
import sys
import time

SLOW_SECONDS = 10


class Pages(http.server.SimpleHTTPRequestHandler):
    """The static pages, and the slow one."""

    def do_GET(self) -> None:
        if self.path == "/slow":
            time.sleep(SLOW_SECONDS)
            self.path = "/tides.html"
        super().do_GET()


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: serve.py ADDRESS")
    pages = functools.partial(Pages, directory=pathlib.Path(__file__).with_name("pages"))
    server = http.server.ThreadingHTTPServer((sys.argv[1], 80), pages)
    print(f"serving http://{sys.argv[1]}", flush=True)
    server.serve_forever()


main()
