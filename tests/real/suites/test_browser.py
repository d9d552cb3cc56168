"""The web page in Chromium, as a person would use it: no key is needed on loopback."""

import os
import pathlib

import pytest
from playwright.sync_api import expect, sync_playwright

from parts.program import DEMO

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ANSWER_MILLISECONDS = 30_000


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium, request):
    """A new page; afterwards, whatever it complained about fails the test, and a picture of it is kept."""
    context = chromium.new_context(viewport={"width": 1100, "height": 900}, locale="en-US")
    page = context.new_page()
    complaints = []
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    page.screenshot(path=pathlib.Path(os.environ["TOOLCRIB_ARTIFACTS"], f"{request.node.name}.png"), full_page=True)
    context.close()
    assert complaints == []


def ask(page, question):
    page.locator("#prompt").fill(question)
    page.locator("#send").click()
    return page.locator("#messages article.assistant").last


def test_the_page_has_a_strict_policy_and_loads_nothing_from_elsewhere(page, demo_program):
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    answer = page.goto(demo_program.address, wait_until="networkidle")
    policy = answer.headers["content-security-policy"]
    assert "default-src" in policy
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert requested
    assert all(url.startswith(demo_program.address) for url in requested), requested


def test_a_calculation(page, demo_program):
    page.goto(demo_program.address)
    expect(page.locator("#model")).to_have_value(DEMO)
    answer = ask(page, "What is 12.5% of 80?")
    expect(answer.locator("details.call")).to_have_attribute("data-status", "SUCCESS", timeout=ANSWER_MILLISECONDS)
    expect(answer.locator(".text").first).to_contain_text("10", timeout=ANSWER_MILLISECONDS)
    expect(page.locator("#stop")).to_be_hidden(timeout=ANSWER_MILLISECONDS)
    expect(page.locator("#send")).to_be_visible()


def test_a_page_is_read_and_becomes_a_source(page, demo_program, site):
    page.goto(demo_program.address)
    answer = ask(page, f"Read {site}/tides.html and tell me what it says about the mill.")
    expect(answer.locator("details.call")).to_have_attribute("data-status", "SUCCESS", timeout=ANSWER_MILLISECONDS)
    expect(answer.locator(".text").first).to_contain_text("mill", timeout=ANSWER_MILLISECONDS)
    expect(answer.locator("ol.sources a")).to_have_attribute("href", f"{site}/tides.html")


def test_a_blocked_page_is_shown_as_blocked(page, demo_program):
    page.goto(demo_program.address)
    answer = ask(page, "Read http://127.0.0.1/ for me.")
    expect(answer.locator("details.call")).to_have_attribute("data-status", "BLOCKED", timeout=ANSWER_MILLISECONDS)
    expect(answer.locator("ol.sources a")).to_have_count(0)


def test_two_questions_in_one_conversation(page, demo_program):
    page.goto(demo_program.address)
    ask(page, "What is 12.5% of 80?")
    expect(page.locator("#stop")).to_be_hidden(timeout=ANSWER_MILLISECONDS)
    answer = ask(page, "What time is it in Tokyo?")
    expect(page.locator("#messages article.assistant")).to_have_count(2)
    expect(answer.locator("details.call")).to_have_attribute("data-status", "SUCCESS", timeout=ANSWER_MILLISECONDS)


def test_stop_cancels_the_run(page, demo_program, site):
    page.goto(demo_program.address)
    ask(page, f"Read {site}/slow")
    expect(page.locator("details.call")).to_be_attached(timeout=ANSWER_MILLISECONDS)
    page.locator("#stop").click()
    expect(page.locator("#stop")).to_be_hidden(timeout=5_000)
    latest = demo_program.get("/api/v1/runs?limit=1").json()["runs"][0]
    demo_program.wait_for_state(latest["id"], "cancelled", 1.0)


def test_an_answer_goes_on_while_the_page_is_away(page, demo_program, site):
    page.goto(demo_program.address)
    ask(page, f"Read {site}/slow")
    expect(page.locator("details.call")).to_be_attached(timeout=ANSWER_MILLISECONDS)
    page.reload()
    answer = page.locator("#messages article.assistant").last
    # Still running when the page is back, and told to its end: the site is slower than the tool may wait.
    expect(page.locator("#stop")).to_be_visible(timeout=ANSWER_MILLISECONDS)
    expect(page.locator("details.call")).to_have_attribute("data-status", "ERROR", timeout=ANSWER_MILLISECONDS)
    expect(answer).to_contain_text("took too long", timeout=ANSWER_MILLISECONDS)
    expect(page.locator("#stop")).to_be_hidden(timeout=ANSWER_MILLISECONDS)
    latest = demo_program.get("/api/v1/runs?limit=1").json()["runs"][0]
    assert latest["state"] == "completed"


def picture(page, name):
    page.screenshot(path=pathlib.Path(os.environ["TOOLCRIB_ARTIFACTS"], f"{name}.png"), full_page=True)


def test_a_call_that_waits_is_shown_exactly_and_runs_when_it_is_allowed(page, asking_program):
    page.goto(asking_program.address)
    answer = ask(page, "What is 12.5% of 80?")
    approval = answer.locator(".approval")
    expect(approval.locator("pre")).to_have_text('{\n  "expression": "12.5% of 80"\n}', timeout=ANSWER_MILLISECONDS)
    expect(answer.locator("details.call")).to_have_attribute("data-status", "PENDING")
    expect(page.locator("#send")).to_be_visible()
    picture(page, "approval")

    page.reload()
    answer = page.locator("#messages article.assistant").last
    approval = answer.locator(".approval")
    approval.get_by_role("button", name="Edit").press("Enter")
    field = approval.get_by_label("Arguments as JSON")
    expect(field).to_be_focused()
    field.fill("{")
    approval.get_by_role("button", name="Run with these arguments").click()
    expect(approval.get_by_role("alert")).to_contain_text("not JSON")
    picture(page, "approval-edit")
    field.press("Escape")
    expect(approval.get_by_role("button", name="Edit")).to_be_focused()

    approval.get_by_role("button", name="Allow once").click()
    expect(answer.locator("details.call")).to_have_attribute("data-status", "SUCCESS", timeout=ANSWER_MILLISECONDS)
    expect(answer.locator(".text").first).to_contain_text("= 10", timeout=ANSWER_MILLISECONDS)
    expect(answer.locator(".approval button")).to_have_count(0)
    expect(page.locator("#messages article.assistant")).to_have_count(1)
    expect(page.locator("#stop")).to_be_hidden()


def test_a_call_that_is_denied_does_not_run_and_the_model_reads_why(page, asking_program):
    page.emulate_media(color_scheme="dark")
    page.goto(asking_program.address)
    answer = ask(page, "What is 12.5% of 80?")
    answer.get_by_role("button", name="Deny").click(timeout=ANSWER_MILLISECONDS)
    note = answer.get_by_label("What should the model know about it?")
    expect(note).to_be_focused()
    note.fill("No sums today.")
    picture(page, "approval-deny-dark")
    note.press("Enter")
    expect(answer.locator("details.call")).to_have_attribute("data-status", "BLOCKED", timeout=ANSWER_MILLISECONDS)
    expect(answer.locator(".text").first).to_contain_text("No sums today.", timeout=ANSWER_MILLISECONDS)


def test_an_answer_that_goes_on_can_be_stopped(page, asking_program, site):
    page.goto(asking_program.address)
    answer = ask(page, f"Read {site}/slow")
    approval = answer.locator(".approval")
    approval.get_by_role("button", name="Allow once").click(timeout=ANSWER_MILLISECONDS)
    page.locator("#stop").click()
    expect(page.locator("#stop")).to_be_hidden(timeout=5_000)
    latest = asking_program.get("/api/v1/runs?limit=1").json()["runs"][0]
    asking_program.wait_for_state(latest["id"], "cancelled", 2.0)
    expect(answer).to_contain_text("Stopped.")


def test_a_new_message_gives_up_what_waits_and_a_conversation_is_asked_once(page, asking_program):
    page.goto(asking_program.address)
    first = ask(page, "What is 12.5% of 80?")
    expect(first.locator(".approval")).to_be_visible(timeout=ANSWER_MILLISECONDS)
    second = ask(page, "What is 12.5% of 40?")
    second.get_by_role("button", name="Allow for this conversation").click(timeout=ANSWER_MILLISECONDS)
    expect(second.locator(".text").first).to_contain_text("= 5", timeout=ANSWER_MILLISECONDS)
    expect(page.locator(".approval button")).to_have_count(0)
    expect(page.locator("details.call").first).to_have_attribute("data-status", "CANCELLED")
    expect(page.locator("#stop")).to_be_hidden(timeout=ANSWER_MILLISECONDS)
    third = ask(page, "What is 12.5% of 160?")
    expect(third.locator("details.call")).to_have_attribute("data-status", "SUCCESS", timeout=ANSWER_MILLISECONDS)
    picture(page, "approval-conversation")


def test_the_page_is_usable_on_a_phone_and_in_the_dark(chromium, demo_program):
    context = chromium.new_context(
        viewport={"width": 375, "height": 700}, color_scheme="dark", locale="de-DE", is_mobile=True
    )
    page = context.new_page()
    page.goto(demo_program.address)
    answer = ask(page, "What is 12.5% of 80?")
    expect(answer.locator("details.call")).to_have_attribute("data-status", "SUCCESS", timeout=ANSWER_MILLISECONDS)
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    page.screenshot(path=pathlib.Path(os.environ["TOOLCRIB_ARTIFACTS"], "phone-dark.png"))
    context.close()
    assert wider <= 0, f"the page is {wider} pixels wider than the phone"
