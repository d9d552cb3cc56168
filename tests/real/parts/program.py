"""The program under test: the built binary, its server and its commands."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field

from parts.child import Child

READY_SECONDS = 30.0
COMMAND_SECONDS = 120.0
DEMO = "toolcrib/demo"


def binary() -> str:
    return os.environ["TOOLCRIB_BINARY"]


@dataclass
class Answer:
    """An answer of the server to one request."""

    status: int
    headers: dict[str, str]
    text: str

    def json(self):
        return json.loads(self.text)


@dataclass
class Program:
    """A server on a data folder of its own, which can be stopped, killed and started again."""

    folder: pathlib.Path
    configuration: str
    environment: dict[str, str] = field(default_factory=dict)
    address: str = ""
    key: str = ""
    child: Child | None = None

    def start(self) -> None:
        """Start it and wait for its ready line; the first start also tells the first key."""
        (self.folder / "toolcrib.toml").write_text(self.configuration)
        command = [binary(), "serve", "--listen", "127.0.0.1:0", *self.places(), "--json"]
        self.child = Child(command, self.folder / "toolcrib.log", self.variables(), self.folder)
        ready = json.loads(self.child.wait_for_line(_is_ready, READY_SECONDS))
        self.address = ready["address"].rstrip("/")
        self.key = ready.get("first_key") or self.key

    def stop(self) -> int:
        return self.child.stop() if self.child else 0

    def kill(self) -> None:
        self.child.kill()

    def places(self) -> list[str]:
        """The options that tell a command where data and configuration are."""
        return ["--data", str(self.folder / "data"), "--config", str(self.folder / "toolcrib.toml")]

    def variables(self) -> dict[str, str]:
        """A clean environment: nothing of the surroundings configures the program."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8", **self.environment}

    def command(self, *arguments: str, server: bool = False, key: str | None = None) -> subprocess.CompletedProcess:
        """Run a command of the program to its end, on the data folder or through the server."""
        where = ["--server", self.address] if server else self.places()
        variables = self.variables()
        if server:
            variables["TOOLCRIB_KEY"] = self.key if key is None else key
        return subprocess.run(
            [binary(), *arguments, *where],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=variables,
            cwd=self.folder,
            timeout=COMMAND_SECONDS,
        )

    def get(self, path: str, key: str | None = "") -> Answer:
        """Ask the server with its first key; with another one, or with none when `key` is `None`."""
        headers = {} if key is None else {"authorization": f"Bearer {key or self.key}"}
        request = urllib.request.Request(self.address + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return Answer(answer.status, _lower(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as answer:
            return Answer(answer.code, _lower(answer.headers), answer.read().decode())

    def run(self, identifier: str) -> dict:
        """The record of a run."""
        answer = self.get(f"/api/v1/runs/{identifier}")
        assert answer.status == 200, answer
        return answer.json()

    def traces(self, identifier: str) -> list[dict]:
        """The traces of the calls of a run."""
        answer = self.get(f"/api/v1/runs/{identifier}/traces")
        assert answer.status == 200, answer
        return answer.json()["traces"]

    def wait_for_state(self, identifier: str, state: str, seconds: float) -> float:
        """Wait until a run has that state; how many seconds it took."""
        began = time.monotonic()
        while True:
            current = self.run(identifier)["state"]
            passed = time.monotonic() - began
            if current == state:
                return passed
            assert passed < seconds, f"run {identifier} is {current}, not {state}, after {passed:.1f} s"
            time.sleep(0.02)


def _is_ready(line: str) -> bool:
    return line.startswith("{") and json.loads(line).get("event") == "ready"


def _lower(headers) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
