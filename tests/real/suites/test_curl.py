"""The bytes on the wire, as curl shows them."""

import json

from parts.program import DEMO
from parts.stream import curl, read_events, read_head


def body(site, **more):
    question = f"Read {site}/tides.html and tell me what it says about the mill."
    return {"model": DEMO, "messages": [{"role": "user", "content": question}], **more}


def ask(program, request, *headers):
    with curl(program.address, program.key, request, *headers) as process:
        stream = read_events(process, read_head(process))
    assert process.returncode == 0
    return stream


def test_a_plain_stream_has_nothing_that_a_strict_client_would_trip_over(demo_program, site):
    stream = ask(demo_program, body(site, stream=True))
    assert stream.status == 200
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.headers["x-toolcrib-run-id"]
    assert stream.done
    assert "mill" in stream.text
    assert stream.comments, "while a tool runs, comments keep the connection open"
    assert not stream.events, "the program's own events are sent to those who ask for them"
    assert all(len(chunk["choices"]) == 1 for chunk in stream.chunks)
    assert {chunk["object"] for chunk in stream.chunks} == {"chat.completion.chunk"}
    assert [annotation["url_citation"]["url"] for annotation in stream.annotations] == [f"{site}/tides.html"]


def test_a_stream_with_events_tells_the_calls_in_order(demo_program, site):
    stream = ask(demo_program, body(site, stream=True), "X-Toolcrib-Events: 1")
    kinds = [event["type"] for event in stream.events if event["type"] != "call_progress"]
    assert kinds == ["run_started", "call_started", "call_ended", "finished"]
    started, begun, ended, finished = [event for event in stream.events if event["type"] != "call_progress"]
    assert started["run_id"] == stream.headers["x-toolcrib-run-id"]
    assert begun["arguments"] == {"url": f"{site}/tides.html"}
    assert (ended["status"], ended["call_id"]) == ("SUCCESS", begun["call_id"])
    assert [source["url"] for source in finished["sources"]] == [f"{site}/tides.html"]
    assert all(len(chunk["choices"]) == 1 for chunk in stream.chunks)
    (trace,) = demo_program.traces(started["run_id"])
    assert {name: ended[name] for name in ("tool", "status", "result")} == {
        name: trace[name] for name in ("tool", "status", "result")
    }, "what is stored is what was streamed"


def test_an_answer_in_one_piece(demo_program, site):
    with curl(demo_program.address, demo_program.key, body(site)) as process:
        head = read_head(process)
        answer = json.loads(process.stdout.read())
    assert head.status == 200
    assert head.headers["content-type"].startswith("application/json")
    (choice,) = answer["choices"]
    assert "mill" in choice["message"]["content"]
    assert choice["message"]["annotations"][0]["url_citation"]["url"] == f"{site}/tides.html"
    assert demo_program.run(head.headers["x-toolcrib-run-id"])["state"] == "completed"


def test_pages_on_loopback_and_unlisted_private_hosts_are_blocked(demo_program):
    for url in (f"{demo_program.address}/", "http://127.0.0.1:1/", "http://10.77.0.1/", "http://169.254.169.254/"):
        question = {"role": "user", "content": f"Read {url}"}
        stream = ask(demo_program, {"model": DEMO, "messages": [question], "stream": True}, "X-Toolcrib-Events: 1")
        (ended,) = [event for event in stream.events if event["type"] == "call_ended"]
        assert ended["status"] == "BLOCKED", (url, ended)
        assert not stream.annotations


def test_requests_without_a_key_or_for_another_host_are_refused(demo_program):
    assert demo_program.get("/v1/models", key=None).status == 401
    assert demo_program.get("/api/v1/runs", key="tc_wrong").status == 401
    assert demo_program.get("/v1/models").status == 200
    assert demo_program.get("/livez", key=None).status == 200
