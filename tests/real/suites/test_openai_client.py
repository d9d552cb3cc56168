"""The official OpenAI client, unchanged, with a real model behind the program."""

import openai
import pytest

from parts.model import NAME

QUESTION = "Read {site}/tides.html and tell me what it says about the mill."


@pytest.fixture
def client(program):
    with openai.OpenAI(base_url=f"{program.address}/v1", api_key=program.key, max_retries=0) as client:
        yield client


@pytest.fixture
def model_id(client):
    (found,) = [model.id for model in client.models.list() if NAME in model.id]
    return found


def messages(site):
    return [{"role": "user", "content": QUESTION.format(site=site)}]


def assert_one_successful_call(program, run_id, site):
    run = program.run(run_id)
    assert run["state"] == "completed", run
    assert [source["url"] for source in run["sources"]] == [f"{site}/tides.html"]
    (trace,) = program.traces(run_id)
    assert (trace["tool"], trace["status"]) == ("read_web_page", "SUCCESS"), trace
    assert trace["arguments"]["url"] == f"{site}/tides.html"
    assert "mill" in trace["result"]


def cited(annotations):
    return {annotation["url_citation"]["url"] for annotation in annotations if annotation["type"] == "url_citation"}


def test_models_are_listed_and_one_can_be_looked_up(client, model_id):
    assert client.models.retrieve(model_id).id == model_id
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nobody/nothing")


def test_a_question_that_needs_a_page(program, client, model_id, site):
    raw = client.chat.completions.with_raw_response.create(model=model_id, messages=messages(site), temperature=0)
    completion = raw.parse()
    (choice,) = completion.choices
    assert choice.finish_reason == "stop"
    assert choice.message.content.strip()
    assert "mill" in choice.message.content.lower()
    assert not choice.message.tool_calls, "a client never sees calls to tools that it did not declare"
    assert cited(annotation.model_dump() for annotation in choice.message.annotations) == {f"{site}/tides.html"}
    assert completion.model == model_id
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens > 0
    assert_one_successful_call(program, raw.headers["x-toolcrib-run-id"], site)


def test_the_same_question_streamed(program, client, model_id, site):
    with client.chat.completions.with_streaming_response.create(
        model=model_id,
        messages=messages(site),
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
    ) as raw:
        run_id = raw.headers["x-toolcrib-run-id"]
        chunks = list(raw.parse())
    choices = [choice for chunk in chunks for choice in chunk.choices]
    text = "".join(choice.delta.content or "" for choice in choices)
    assert "mill" in text.lower()
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"]
    assert not any(choice.delta.tool_calls for choice in choices)
    annotations = [found for choice in choices for found in choice.delta.model_extra.get("annotations") or []]
    assert cited(annotations) == {f"{site}/tides.html"}
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    assert [chunk for chunk in chunks if not chunk.choices] == [chunk for chunk in chunks if chunk.usage]
    assert chunks[-1].usage.total_tokens > 0
    assert_one_successful_call(program, run_id, site)


def test_a_tool_of_the_client_is_the_clients_to_run(client, site):
    """The demo model calls no foreign tools; what matters is that declaring one breaks nothing."""
    function = {"name": "own_tool", "description": "Does nothing", "parameters": {"type": "object", "properties": {}}}
    completion = client.chat.completions.create(
        model="toolcrib/demo",
        messages=[{"role": "user", "content": "What is 12.5% of 80?"}],
        tools=[{"type": "function", "function": function}],
    )
    assert "10" in completion.choices[0].message.content


def test_a_wrong_key(program):
    with openai.OpenAI(base_url=f"{program.address}/v1", api_key="tc_wrong", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError) as caught:
            client.models.list()
        assert caught.value.code == "invalid_api_key"


def test_an_unknown_model(client):
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="nobody/nothing", messages=[{"role": "user", "content": "Hello"}])
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"messages": "Hello"}, "messages"),
        ({"messages": [{"role": "nobody", "content": "Hello"}]}, "messages[0].role"),
        ({"temperature": "warm"}, "temperature"),
        ({"max_tokens": -1}, "max_tokens"),
    ],
)
def test_a_bad_body_names_the_field(client, model_id, change, param):
    body = {"model": model_id, "messages": [{"role": "user", "content": "Hello"}], **change}
    with pytest.raises(openai.BadRequestError) as caught:
        client.post("/chat/completions", body=body, cast_to=object)
    assert caught.value.param == param, caught.value.body
    assert caught.value.body["message"]


def test_an_error_is_told_before_a_stream_begins(client):
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(
            model="nobody/nothing", messages=[{"role": "user", "content": "Hello"}], stream=True
        )
