"""The parts themselves work, so that a failure elsewhere is the program's."""

import json
import urllib.request

from parts.model import NAME


def test_the_site_serves_its_pages(site):
    with urllib.request.urlopen(f"{site}/tides.html", timeout=10) as answer:
        assert "two hours later the miller" in answer.read().decode()


def test_the_model_calls_a_tool(model, site):
    parameters = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
    function = {"name": "read_web_page", "description": "Read a web page", "parameters": parameters}
    body = {
        "model": NAME,
        "temperature": 0,
        "messages": [{"role": "user", "content": f"Read {site}/tides.html and tell me what it says about the mill."}],
        "tools": [{"type": "function", "function": function}],
    }
    request = urllib.request.Request(
        f"{model}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        (call,) = json.load(answer)["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "read_web_page"
    assert json.loads(call["function"]["arguments"]) == {"url": f"{site}/tides.html"}
