"""The parts that suites ask for, each started once."""

import pathlib

import pytest

from parts import site as site_part
from parts.model import model_server
from parts.program import Program

@pytest.fixture(scope="session")
def logs(tmp_path_factory) -> pathlib.Path:
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="session")
def site(logs):
    with site_part.site(logs) as url:
        yield url


@pytest.fixture(scope="session")
def model(logs):
    with model_server(logs) as url:
        yield url


def start(folder: pathlib.Path, environment: dict[str, str], more: str = "") -> Program:
    program = Program(folder, site_part.CONFIGURATION + more, environment)
    program.start()
    return program


@pytest.fixture(scope="session")
def program(tmp_path_factory, site, model):
    """A server with the real model behind it, shared by the suites that leave it as it is."""
    environment = {"OPENAI_BASE_URL": model, "OPENAI_API_KEY": "x"}
    program = start(tmp_path_factory.mktemp("program"), environment)
    yield program
    program.stop()


@pytest.fixture
def own_program(tmp_path, site, model):
    """A server with the real model behind it, for one test that kills it."""
    program = start(tmp_path, {"OPENAI_BASE_URL": model, "OPENAI_API_KEY": "x"})
    yield program
    program.stop()


@pytest.fixture(scope="session")
def demo_program(tmp_path_factory, site):
    """A server with nothing configured but the page host: the demo model answers."""
    program = start(tmp_path_factory.mktemp("demo"), {})
    yield program
    program.stop()


@pytest.fixture(scope="session")
def asking_program(tmp_path_factory, site):
    """A server with the demo model, on which every call waits for a person."""
    rule = '\n[[policy.approval]]\ntools = "*"\nanswer = "ask"\n'
    program = start(tmp_path_factory.mktemp("asking"), {}, rule)
    yield program
    program.stop()
