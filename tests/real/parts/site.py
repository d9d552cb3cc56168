"""A web server on a host of its own: another network namespace on this machine.

The program refuses loopback addresses for pages, whatever is configured, so the pages need an address that is not
one. Needs the rights to make network namespaces.
"""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
import sys
from collections.abc import Iterator

from parts.child import Child

NAMESPACE = "toolcrib-site"
OUTER_LINK, INNER_LINK = "toolcrib-out", "toolcrib-in"
OUTER_ADDRESS, ADDRESS = "10.77.0.1", "10.77.0.2"
URL = f"http://{ADDRESS}"
# What the program is told, so that it may read the pages of this private host.
CONFIGURATION = f'[tools.read_web_page]\nallowedPrivateHosts = "{URL}"\n'
SERVE = pathlib.Path(__file__).parents[1] / "site" / "serve.py"


def _ip(*arguments: str, check: bool = True) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


def _remove() -> None:
    _ip("link", "del", OUTER_LINK, check=False)
    _ip("netns", "del", NAMESPACE, check=False)


@contextlib.contextmanager
def site(folder: pathlib.Path) -> Iterator[str]:
    """Serve the pages while the block runs; gives the URL that they are under."""
    _remove()  # left by a run that was killed
    server = None
    try:
        _ip("netns", "add", NAMESPACE)
        _ip("link", "add", OUTER_LINK, "type", "veth", "peer", "name", INNER_LINK, "netns", NAMESPACE)
        _ip("addr", "add", f"{OUTER_ADDRESS}/24", "dev", OUTER_LINK)
        _ip("link", "set", OUTER_LINK, "up")
        _ip("-n", NAMESPACE, "addr", "add", f"{ADDRESS}/24", "dev", INNER_LINK)
        _ip("-n", NAMESPACE, "link", "set", INNER_LINK, "up")
        _ip("-n", NAMESPACE, "link", "set", "lo", "up")
        command = ["ip", "netns", "exec", NAMESPACE, sys.executable, str(SERVE), ADDRESS]
        server = Child(command, folder / "site.log")
        server.wait_for_line(lambda line: line.startswith("serving "), 15)
        yield URL
    finally:
        if server:
            server.stop()
        _remove()
