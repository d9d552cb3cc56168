"""Read a streamed answer as curl prints it, line by line."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field


@dataclass
class Stream:
    """A streamed answer: what was said, and what the program told beside it."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    chunks: list[dict] = field(default_factory=list)
    done: bool = False

    @property
    def text(self) -> str:
        choices = [choice for chunk in self.chunks for choice in chunk.get("choices", [])]
        return "".join(choice.get("delta", {}).get("content") or "" for choice in choices)

    @property
    def events(self) -> list[dict]:
        return [chunk["toolcrib"] for chunk in self.chunks if "toolcrib" in chunk]

    @property
    def annotations(self) -> list[dict]:
        choices = [choice for chunk in self.chunks for choice in chunk.get("choices", [])]
        found = [choice.get("delta", {}).get("annotations") or [] for choice in choices]
        return [annotation for annotations in found for annotation in annotations]


def curl(address: str, key: str, body: dict, *headers: str) -> subprocess.Popen:
    """Start curl on a chat completion; its standard output is the head and body of the answer."""
    command = ["curl", "--silent", "--show-error", "--no-buffer", "--include", "--max-time", "180"]
    command += ["--header", "content-type: application/json", "--header", f"authorization: Bearer {key}"]
    for header in headers:
        command += ["--header", header]
    command += ["--data", json.dumps(body), f"{address}/v1/chat/completions"]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def read_head(process: subprocess.Popen) -> Stream:
    """The status and the headers, as soon as they are there."""
    stream = Stream(status=int(process.stdout.readline().split()[1]))
    while line := process.stdout.readline().strip():
        name, _, value = line.partition(":")
        stream.headers[name.lower()] = value.strip()
    return stream


def read_events(process: subprocess.Popen, stream: Stream, until=None) -> Stream:
    """Read events to the end of the answer, or until `until` takes a chunk."""
    for line in process.stdout:
        line = line.rstrip("\n")
        if line.startswith(":"):
            stream.comments.append(line[1:].strip())
        elif line == "data: [DONE]":
            stream.done = True
        elif line.startswith("data: "):
            stream.chunks.append(json.loads(line.removeprefix("data: ")))
            if until and until(stream.chunks[-1]):
                return stream
        else:
            assert line == "", f"neither an event nor a comment: {line!r}"
    return stream
