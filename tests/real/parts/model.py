"""A real language model behind llama.cpp's server, on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

from parts.child import Child

NAME = "qwen2.5-coder-0.5b"
FOLDER = pathlib.Path(__file__).parents[1] / "llm"
READY_SECONDS = 120.0


def free_port() -> int:
    """A loopback port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def model_server(folder: pathlib.Path) -> Iterator[str]:
    """Serve the model while the block runs; gives the base URL of its API."""
    port = free_port()
    command = [
        f"{os.environ['MODEL_SERVER']}/bin/python",
        str(FOLDER / "serve.py"),
        os.environ["WEIGHTS"],
        str(port),
        NAME,
        str(FOLDER / "fenced-calls.jinja"),
    ]
    server = Child(command, folder / "model.log")
    try:
        _wait_until_healthy(server, port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.stop()


def _wait_until_healthy(server: Child, port: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            break
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                if json.load(answer).get("status") == "ok":
                    return
        time.sleep(0.2)
    raise RuntimeError(f"the model server was not ready on port {port}:\n{server.tail()}")
