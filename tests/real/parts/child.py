"""A process that a suite starts, and ends by its id.

Whatever happens in a test, the process and what it started in its own group are gone afterwards.
"""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import threading
import time

GRACE_SECONDS = 10.0


class Child:
    """A running process; its standard output is kept line by line, its standard error goes to `log`."""

    def __init__(
        self,
        command: list[str],
        log: pathlib.Path,
        environment: dict[str, str] | None = None,
        folder: pathlib.Path | None = None,
    ) -> None:
        self.command = command
        self.log = log
        self.lines: list[str] = []
        self._changed = threading.Condition()
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                cwd=folder,
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def wait_for_line(self, accept, seconds: float) -> str:
        """The first line of standard output that `accept` takes."""
        deadline = time.monotonic() + seconds
        seen = 0
        with self._changed:
            while True:
                for line in self.lines[seen:]:
                    if accept(line):
                        return line
                seen = len(self.lines)
                left = deadline - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    raise RuntimeError(f"{self.command} was not ready: {self.lines[-5:]}\n{self.tail()}")
                self._changed.wait(min(left, 0.2))

    def tail(self, lines: int = 30) -> str:
        """The end of standard error."""
        return "\n".join(self.log.read_text("utf-8", "replace").splitlines()[-lines:])

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Ask it to end, and insist after a while; the exit code."""
        self._signal(signal.SIGTERM)
        try:
            return self.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.process.returncode

    def _signal(self, number: int) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)
