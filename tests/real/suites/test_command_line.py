"""The commands, with their output and exit codes, at a running server and on the data folder alone."""

import json

import pytest

from parts.program import DEMO, Program
from parts.site import CONFIGURATION


@pytest.fixture
def page_question(site):
    return f"Read {site}/tides.html and tell me what it says about the mill."


def test_ask_through_a_server(program, page_question, site):
    done = program.command("ask", page_question, "--model", DEMO, server=True)
    assert done.returncode == 0, done.stderr
    assert "mill" in done.stdout
    assert f"{site}/tides.html" in done.stdout, "the sources stand under the answer"
    assert "SUCCESS" in done.stderr, "the calls are told beside the answer"


def test_ask_as_data(program, page_question, site):
    done = program.command("ask", page_question, "--model", DEMO, "--json", server=True)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    (call,) = answer["calls"]
    assert (call["tool"], call["status"]) == ("read_web_page", "SUCCESS")
    assert [source["url"] for source in answer["sources"]] == [f"{site}/tides.html"]
    assert program.run(answer["run_id"])["state"] == "completed"


def test_ask_with_a_wrong_key_fails_and_says_why(program):
    done = program.command("ask", "Hello", server=True, key="tc_wrong")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "key" in done.stderr


def test_wrong_usage_has_its_own_exit_code(program):
    done = program.command("no-such-command")
    assert done.returncode == 2
    assert "no-such-command" in done.stderr


def test_tools_are_listed_and_explained(program):
    done = program.command("tools", "list", server=True)
    assert done.returncode == 0, done.stderr
    for tool in ("calculate", "get_current_time", "read_web_page"):
        assert tool in done.stdout
    done = program.command("tools", "list", "--json", server=True)
    assert {"calculate", "get_current_time", "read_web_page"} <= {tool["id"] for tool in json.loads(done.stdout)["tools"]}

    done = program.command("tools", "explain", "read_web_page", "--json", server=True)
    assert done.returncode == 0, done.stderr
    (tool,) = json.loads(done.stdout)["tools"]
    assert tool["offered"] is True
    assert all(gate["passed"] for gate in tool["gates"])

    done = program.command("tools", "explain", "no_such_tool", server=True)
    assert done.returncode == 1
    assert "no_such_tool" in done.stderr


def test_call_runs_one_tool_through_the_gates(program, site):
    page = json.dumps({"url": f"{site}/tides.html"})
    done = program.command("call", "read_web_page", page)
    assert done.returncode == 0, done.stderr
    assert "two hours later the miller" in done.stdout
    # Whoever only has a key reads the result as a caller of medium confidence: private pages stay out of reach.
    done = program.command("call", "read_web_page", page, "--json", server=True)
    assert (done.returncode, json.loads(done.stdout)["status"]) == (1, "BLOCKED")
    done = program.command("call", "read_web_page", json.dumps({"url": "http://127.0.0.1/"}), "--json", server=True)
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "BLOCKED"
    done = program.command("call", "calculate", '{"expression": "12.5% of 80"}', server=True)
    assert (done.returncode, json.loads(done.stdout)["result"]) == (0, "10")


def test_check_tells_a_good_definition_from_a_bad_one(program, tmp_path):
    good = {
        "schemaVersion": 1,
        "id": "tide_table",
        "implementationKey": "tide_table",
        "function": {
            "name": "tide_table",
            "descriptionForLLM": "Returns the times of high and low water on one day. Returns JSON with times.",
            "strict": True,
            "parameters": {
                "type": "object",
                "properties": {"day": {"type": "string", "description": "The day, as YYYY-MM-DD."}},
                "required": ["day"],
                "additionalProperties": False,
            },
        },
        "display": {
            "en": {"name": "Tide table", "description": "Looks up the tides.", "icon": "🌊"},
            "de": {"name": "Gezeitentafel", "description": "Schlägt die Gezeiten nach.", "icon": "🌊"},
        },
    }
    path = tmp_path / "tide_table.json"
    path.write_text(json.dumps(good))
    done = program.command("check", str(path))
    assert done.returncode == 0, done.stdout + done.stderr

    path.write_text(json.dumps({**good, "schemaVersion": "one", "functoin": good["function"]}))
    done = program.command("check", str(path), "--format", "json")
    assert done.returncode == 1
    assert "/schemaVersion" in done.stdout


def test_doctor_finds_everything_working(program):
    done = program.command("doctor", "--json", server=True)
    assert done.returncode == 0, done.stdout
    checks = json.loads(done.stdout)["checks"]
    assert checks
    assert not [check for check in checks if check["state"] == "error"]
    assert program.command("doctor", server=True).stdout


def test_commands_work_on_the_data_folder_without_a_server(tmp_path, site):
    program = Program(tmp_path, CONFIGURATION)
    (tmp_path / "toolcrib.toml").write_text(CONFIGURATION)
    done = program.command("ask", "What is 12.5% of 80?")
    assert done.returncode == 0, done.stderr
    assert "10" in done.stdout
    done = program.command("call", "read_web_page", json.dumps({"url": f"{site}/berths.html"}))
    assert done.returncode == 0, done.stderr
    assert "31 crowns" in done.stdout


def test_a_wrong_configuration_is_told_with_its_place(tmp_path):
    (tmp_path / "toolcrib.toml").write_text("[server]\nlisen = '127.0.0.1:0'\n")
    done = Program(tmp_path, "").command("doctor")
    assert done.returncode == 1
    assert "lisen" in done.stderr
    assert "listen" in done.stderr
