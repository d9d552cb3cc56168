"""Crashes and cut connections: nothing is lost, nothing goes on in secret."""

import pytest

from parts.model import NAME
from parts.program import DEMO
from parts.stream import curl, read_events, read_head

EVENTS = "X-Toolcrib-Events: 1"


def request(model, question):
    return {"model": model, "stream": True, "temperature": 0, "messages": [{"role": "user", "content": question}]}


def real_model(program):
    (found,) = [model["id"] for model in program.get("/v1/models").json()["data"] if NAME in model["id"]]
    return found


def started(chunk):
    return chunk.get("toolcrib", {}).get("type") == "run_started"


def call_started(chunk):
    return chunk.get("toolcrib", {}).get("type") == "call_started"


def said_something(chunk):
    return any(choice.get("delta", {}).get("content") for choice in chunk.get("choices", []))


@pytest.mark.parametrize("where", ["in a call", "in the model's answer"])
def test_a_run_that_a_crash_cut_off_is_interrupted_after_a_restart(own_program, site, where):
    if where == "in a call":
        body, until = request(DEMO, f"Read {site}/slow"), call_started
    else:
        body, until = request(real_model(own_program), "Write a long story about a harbor."), said_something
    process = curl(own_program.address, own_program.key, body, EVENTS)
    try:
        stream = read_events(process, read_head(process), until)
        run_id = stream.headers["x-toolcrib-run-id"]
        assert own_program.run(run_id)["state"] == "running"
        own_program.kill()
    finally:
        process.kill()
        process.wait()

    own_program.start()

    run = own_program.run(run_id)
    assert run["state"] == "interrupted", run
    assert run["ended_at"]
    traces = own_program.traces(run_id)
    if where == "in a call":
        (trace,) = traces
        assert trace["status"] == "ERROR", trace
        assert trace["arguments"]["url"] == f"{site}/slow", "what was admitted before the crash is there"
    # The program works as before.
    done = own_program.command("ask", "What is 12.5% of 80?", "--model", DEMO, server=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("where", ["in a call", "in the model's answer"])
def test_leaving_a_stream_cancels_its_run_within_a_second(program, site, where):
    if where == "in a call":
        body, until = request(DEMO, f"Read {site}/slow"), call_started
    else:
        body, until = request(real_model(program), "Write a long story about a harbor."), said_something
    process = curl(program.address, program.key, body, EVENTS)
    try:
        stream = read_events(process, read_head(process), until)
        run_id = stream.headers["x-toolcrib-run-id"]
        assert program.run(run_id)["state"] == "running"
    finally:
        process.kill()
        process.wait()
    program.wait_for_state(run_id, "cancelled", 1.0)
    if where == "in a call":
        (trace,) = program.traces(run_id)
        assert trace["status"] == "CANCELLED", trace


def test_a_signal_ends_the_program_with_nothing_left_running(own_program, site):
    process = curl(own_program.address, own_program.key, request(DEMO, "What is 12.5% of 80?"), EVENTS)
    with process:
        stream = read_events(process, read_head(process))
    assert own_program.stop() == 0
    own_program.start()
    assert own_program.run(stream.headers["x-toolcrib-run-id"])["state"] == "completed"
