// The chat page: sends a message, reads the stream of events, shows calls, answer and sources.
// Whatever a server or a model says enters the page as text nodes only; no string is ever read as HTML.

const TEXTS = {
  en: {
    you: "You",
    assistant: "Toolcrib",
    waiting: "Thinking…",
    working: "Working on an answer",
    status: { RUNNING: "Running", PENDING: "Waiting", SUCCESS: "Success", BLOCKED: "Blocked", ERROR: "Error", CANCELLED: "Cancelled" },
    calls: (count) => `Tool calls (${count})`,
    tally: { RUNNING: "running", PENDING: "waiting", SUCCESS: "succeeded", BLOCKED: "blocked", ERROR: "failed", CANCELLED: "cancelled" },
    callStarted: (name) => `${name} started`,
    callEnded: (name, status) => `${name}: ${status}`,
    arguments: "Arguments",
    noArguments: "None",
    result: "Result",
    noResult: "No result",
    reason: "Reason",
    read: "Read",
    took: (time) => `Took ${time}`,
    notExecuted: "The tool was not executed.",
    showAll: (characters) => `Show all (${characters} characters)`,
    sources: "Sources used by tools",
    modelSources: "Sources named by the model",
    sourceCount: (count) => (count === 1 ? "1 source" : `${count} sources`),
    newTab: "opens in a new tab",
    tokens: (count) => `${count} tokens`,
    incomplete: (reason) => `This answer is incomplete: ${withoutPeriod(reason)}.`,
    stopped: "Stopped. What was there so far is kept.",
    approval: {
      title: (name) => `${name} waits for your approval`,
      allow_once: "Allow once",
      allow_conversation: "Allow for this conversation",
      deny: "Deny",
      edit: "Edit…",
      denyMore: "Deny…",
      note: "What should the model know about it? (optional)",
      arguments: "Arguments as JSON",
      run: "Run with these arguments",
      back: "Back",
      notAnObject: "The arguments are a JSON object, such as {\"name\": \"value\"}.",
      notJson: (reason) => `This is not JSON: ${reason}`,
      expires: (time) => `Counts as denied if nobody answers before ${time}.`,
      given: { allow_once: "You allowed this call once.", allow_conversation: "You allowed this tool for this conversation.", deny: "You denied this call.", edit: "You allowed this call with other arguments." },
      more: "The answer goes on when the other calls have an answer, too.",
      givenUp: "This answer was given up, because the conversation went on without it.",
    },
    empty: "The model gave no text.",
    state: {
      incomplete: "This answer is incomplete: a limit was reached.",
      failed: "This answer failed.",
      cancelled: "This answer was stopped.",
      interrupted: "This answer was cut off when Toolcrib stopped.",
      running: "This answer is still being worked on.",
    },
    again: "Try again",
    failed: "The answer failed",
    answeredWith: (status) => `The server answered with status ${status}`,
    unreachable: "The server cannot be reached",
    unreachableHint: "Check that Toolcrib is running and that this device is connected.",
    cutOff: "The connection ended before the answer was complete",
    cutOffHint: "Try again, or reload the page to see what was kept.",
    unreadable: "The server sent something that this page cannot read",
    signIn: "Reload the page to begin a new session.",
    models: "The list of models could not be loaded",
    noModels: "No model",
    confidence: "Confidence:",
    confidenceTitle: (level) => `This model's provider is trusted at the level ${level}`,
    open: "The conversation could not be opened",
    seconds: (seconds) => `${seconds} s`,
    milliseconds: (milliseconds) => `${milliseconds} ms`,
    minutes: (minutes, seconds) => `${minutes} min ${seconds} s`,
  },
};

const language = document.documentElement.lang;
const text = TEXTS[language] ?? TEXTS.en;

const CUT_AT_CHARACTERS = 2000;
const BRIEF_CHARACTERS = 120;
const GOES_ON_POLL_MS = 150;
const ANNOUNCEMENT_KEPT_MS = 20_000;
const NEAR_END_PIXELS = 120;

// Pure helpers; exported for tests.

/** A parser of `text/event-stream` (WHATWG HTML, 9.2.6): feed it text however split, it calls `emit` with each event's data. */
export function eventParser(emit) {
  let line = "";
  let data = null;
  let afterReturn = false;
  let first = true;
  const endLine = () => {
    if (line === "") {
      if (data !== null) emit(data);
      data = null;
    } else if (line === "data" || line.startsWith("data:")) {
      const value = line.slice(5);
      const piece = value.startsWith(" ") ? value.slice(1) : value;
      data = data === null ? piece : `${data}\n${piece}`;
    }
    line = "";
  };
  return (chunk) => {
    if (first && chunk !== "") {
      first = false;
      if (chunk.startsWith("\uFEFF")) chunk = chunk.slice(1);
    }
    let from = 0;
    for (const { 0: end, index } of chunk.matchAll(/[\r\n]/g)) {
      const secondHalf = end === "\n" && afterReturn && index === from;
      if (!secondHalf) {
        line += chunk.slice(from, index);
        endLine();
      }
      afterReturn = end === "\r";
      from = index + 1;
    }
    if (from < chunk.length) {
      line += chunk.slice(from);
      afterReturn = false;
    }
  };
}

/** The URL when it is one that may become a link, else null. */
export function webUrl(value) {
  try {
    const url = new URL(value);
    return url.protocol === "http:" || url.protocol === "https:" ? url : null;
  } catch {
    return null;
  }
}

/** Splits text into strings and `{ url, label }` for the http and https URLs in it. */
export function splitLinks(value) {
  const parts = [];
  let from = 0;
  for (const match of value.matchAll(/\bhttps?:\/\/[^\s<>"`]+/gi)) {
    const label = withoutTrailingPunctuation(match[0]);
    const url = webUrl(label);
    if (url === null) continue;
    if (match.index > from) parts.push(value.slice(from, match.index));
    parts.push({ url, label });
    from = match.index + label.length;
  }
  if (from < value.length) parts.push(value.slice(from));
  return parts;
}

function withoutTrailingPunctuation(value) {
  let end = value.length;
  const count = (character) => value.slice(0, end).split(character).length - 1;
  for (;;) {
    const last = value[end - 1];
    const unbalanced = (last === ")" && count(")") > count("(")) || (last === "]" && count("]") > count("["));
    if (!unbalanced && !".,;:!?'*_’”…".includes(last)) return value.slice(0, end);
    end -= 1;
  }
}

function duration(milliseconds) {
  const number = (value, digits) =>
    new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
  if (milliseconds < 1000) return text.milliseconds(number(Math.round(milliseconds), 0));
  if (milliseconds < 59_950) return text.seconds(number(milliseconds / 1000, 1));
  const seconds = Math.round(milliseconds / 1000);
  return text.minutes(Math.floor(seconds / 60), seconds % 60);
}

function withoutPeriod(sentence) {
  return (sentence ?? "").trim().replace(/\.$/, "");
}

/** What went wrong and what to do about it, in one line. */
function explain({ message, hint }) {
  return [withoutPeriod(message), hint].filter(Boolean).join(". ");
}

function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function brief(value) {
  if (value === null || value === undefined) return "";
  const isRecord = typeof value === "object" && !Array.isArray(value);
  const entries = isRecord ? Object.entries(value) : [];
  const show = (item) => (typeof item === "string" ? item : JSON.stringify(item));
  const whole = !isRecord ? show(value) : entries.length === 1 ? show(entries[0][1]) : entries.map(([key, item]) => `${key}: ${show(item)}`).join(", ");
  const line = whole.replace(/\s+/g, " ").trim();
  return line.length > BRIEF_CHARACTERS ? `${line.slice(0, BRIEF_CHARACTERS)}…` : line;
}

// Building the page.

const byId = (id) => document.getElementById(id);
const page = {
  prompt: byId("prompt"), composer: byId("composer"), send: byId("send"), stop: byId("stop"), fresh: byId("new"),
  model: byId("model"), confidence: byId("confidence"), messages: byId("messages"), welcome: byId("welcome"), announcer: byId("announcer"),
};

/** An element; `className`, `title` and the like are properties, `data` and `attributes` are objects, children are nodes or strings. */
function make(tag, { data = {}, attributes = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  Object.assign(element.dataset, data);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function link(url, label) {
  return make(
    "a",
    { href: url.href, rel: "noopener noreferrer nofollow", target: "_blank" },
    make("bdi", {}, label),
    make("span", { className: "unseen" }, ` (${text.newTab})`),
  );
}

function linked(value) {
  return splitLinks(value).map((part) => (typeof part === "string" ? part : link(part.url, part.label)));
}

function sourceItem({ title, url }) {
  const target = webUrl(url);
  const name = title?.trim() || url;
  if (target === null) return make("li", {}, make("bdi", {}, name));
  return make("li", {}, link(target, name), " ", make("span", { className: "host" }, target.host));
}

function section(title, ...content) {
  return make("div", {}, make("h3", {}, title), ...content);
}

function scrollable(title, value) {
  const pre = make("pre", { tabIndex: 0, attributes: { role: "group", "aria-label": title } });
  if (value.length <= CUT_AT_CHARACTERS) {
    pre.textContent = value;
    return section(title, pre);
  }
  pre.textContent = `${value.slice(0, CUT_AT_CHARACTERS)}…`;
  const more = make("button", { type: "button", className: "quiet" }, text.showAll(value.length.toLocaleString(language)));
  more.addEventListener("click", () => {
    pre.textContent = value;
    more.remove();
    pre.focus();
  });
  return section(title, pre, more);
}

function announce(message) {
  const line = make("p", {}, message);
  page.announcer.append(line);
  setTimeout(() => line.remove(), ANNOUNCEMENT_KEPT_MS);
}

/** One tool call, from the moment it begins. */
class CallView {
  constructor({ order, call_id, tool, name, icon, arguments: given }, status) {
    this.order = order;
    this.callId = call_id;
    this.name = name || tool;
    this.given = given;
    this.began = performance.now();
    this.time = make("span", { className: "time" });
    this.word = make("span", { className: "status" });
    this.progress = make("span", { className: "progress", dir: "auto" });
    this.body = make("div", { className: "body" });
    // An icon is one emoji, or a name that this page has no picture for.
    const picture = icon && !/^[\w-]+$/.test(icon) ? icon : "🔧";
    const summary = make(
      "summary",
      {},
      make("span", { className: "token", attributes: { "aria-hidden": "true" } }, picture),
      make("span", { className: "name", dir: "auto" }, this.name),
      make("span", { className: "brief", dir: "auto" }, brief(given)),
      this.time,
      this.word,
      this.progress,
    );
    this.element = make("details", { className: "call", data: { callId: call_id, tool: tool ?? "" } }, summary, this.body);
    this.setStatus(status);
    this.fill({});
  }

  get running() {
    return this.status === "RUNNING" || this.status === "PENDING";
  }

  setStatus(status) {
    this.status = status;
    this.element.dataset.status = status;
    this.word.textContent = text.status[status] ?? status;
  }

  tick(now) {
    if (this.running) this.time.textContent = duration(now - this.began);
  }

  say(progress) {
    this.progress.textContent = progress;
  }

  end(trace) {
    this.setStatus(trace.status);
    this.say("");
    if (trace.arguments !== undefined) this.given = trace.arguments;
    if (Number.isFinite(trace.duration_ms)) this.time.textContent = duration(trace.duration_ms);
    this.fill(trace);
  }

  cancel() {
    if (!this.running) return;
    this.setStatus("CANCELLED");
    this.say("");
  }

  fill({ message, result, result_json, truncation, duration_ms, executed, sources }) {
    const hasArguments = this.given !== null && this.given !== undefined && JSON.stringify(this.given) !== "{}";
    const parts = [hasArguments ? scrollable(text.arguments, pretty(this.given)) : section(text.arguments, make("p", {}, text.noArguments))];
    if (message) parts.push(section(text.reason, make("p", { className: "message", dir: "auto" }, ...linked(message))));
    const hasJson = result_json !== null && result_json !== undefined;
    if (hasJson || result) parts.push(scrollable(text.result, hasJson ? pretty(result_json) : result));
    else if (!this.running && !message) parts.push(section(text.result, make("p", {}, text.noResult)));
    if (truncation) parts.push(make("p", { className: "note" }, truncation));
    if (sources?.length) parts.push(section(text.read, make("ul", {}, ...sources.map(sourceItem))));
    const facts = [];
    if (Number.isFinite(duration_ms)) facts.push(text.took(duration(duration_ms)));
    if (executed === false) facts.push(text.notExecuted);
    if (facts.length) parts.push(make("p", { className: "meta" }, facts.join(" · ")));
    this.body.replaceChildren(...parts);
  }
}

/** A call that waits for the user: its arguments exactly as they will be sent, and what can be answered. */
class ApprovalView {
  constructor(request, answered) {
    this.request = request;
    this.answered = answered;
    const { id, name, icon, arguments: given, reason, conversation_id, expires_at } = request;
    const words = text.approval;
    const picture = icon && !/^[\w-]+$/.test(icon) ? icon : "🔧";
    const title = make("h3", { id: `title-${id}` }, make("span", { className: "token", attributes: { "aria-hidden": "true" } }, picture), make("span", { dir: "auto" }, words.title(name)));
    this.given = make("pre", { tabIndex: 0, attributes: { role: "group", "aria-label": text.arguments } }, pretty(given));
    this.problem = make("p", { className: "problem", hidden: true, dir: "auto", attributes: { role: "alert" } });
    const button = (label, className, act) => {
      const element = make("button", { type: "button", className }, label);
      element.addEventListener("click", act);
      return element;
    };
    this.denyButton = button(words.denyMore, "quiet deny", () => this.open(this.denial, this.note));
    this.editButton = button(words.edit, "quiet edit", () => this.open(this.editing, this.edited));
    this.choices = make("div", { className: "choices" }, button(words.allow_once, "primary", () => this.send({ answer: "allow_once" })));
    if (conversation_id) this.choices.append(button(words.allow_conversation, "quiet", () => this.send({ answer: "allow_conversation" })));
    this.choices.append(this.denyButton, this.editButton);
    this.note = make("input", { type: "text", id: `note-${id}`, maxLength: 2000, autocomplete: "off" });
    this.denial = make(
      "div",
      { className: "panel", hidden: true },
      make("label", { htmlFor: this.note.id }, words.note),
      this.note,
      make("div", { className: "choices" }, button(words.deny, "primary", () => this.deny()), button(words.back, "quiet", () => this.close())),
    );
    this.edited = make("textarea", { id: `edit-${id}`, rows: 5, spellcheck: false, value: pretty(given) });
    this.editing = make(
      "div",
      { className: "panel", hidden: true },
      make("label", { htmlFor: this.edited.id }, words.arguments),
      this.edited,
      make("div", { className: "choices" }, button(words.run, "primary", () => this.edit()), button(words.back, "quiet", () => this.close())),
    );
    const expires = make("p", { className: "meta" }, words.expires(new Date(expires_at).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" })));
    this.element = make("section", { className: "approval", data: { approval: id }, attributes: { "aria-labelledby": title.id } }, title, make("p", { className: "why", dir: "auto" }, reason), this.given, this.choices, this.denial, this.editing, this.problem, expires);
    this.element.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Escape") this.close();
      if (event.key === "Enter" && event.target === this.note) this.deny();
    });
  }

  open(panel, field) {
    this.choices.hidden = true;
    panel.hidden = false;
    this.opener = panel === this.denial ? this.denyButton : this.editButton;
    this.given.hidden = panel === this.editing;
    field.focus();
  }

  close() {
    if (!this.choices.hidden) return;
    this.choices.hidden = false;
    this.given.hidden = false;
    this.denial.hidden = true;
    this.editing.hidden = true;
    this.fail("");
    this.opener.focus();
  }

  fail(problem) {
    this.problem.textContent = problem;
    this.problem.hidden = problem === "";
  }

  deny() {
    const note = this.note.value.trim();
    return this.send(note === "" ? { answer: "deny" } : { answer: "deny", note });
  }

  edit() {
    let given;
    try {
      given = JSON.parse(this.edited.value);
    } catch (cause) {
      this.fail(text.approval.notJson(cause.message));
      this.edited.focus();
      return null;
    }
    if (given === null || typeof given !== "object" || Array.isArray(given)) {
      this.fail(text.approval.notAnObject);
      this.edited.focus();
      return null;
    }
    return this.send({ answer: "edit", arguments: given });
  }

  async send(answer) {
    this.fail("");
    const controls = this.element.querySelectorAll("button, input, textarea");
    for (const control of controls) control.disabled = true;
    try {
      const taken = await json(this.request.endpoint, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(answer) });
      this.end(text.approval.given[answer.answer] + (taken.run_goes_on ? "" : ` ${text.approval.more}`));
      this.answered(taken);
    } catch (cause) {
      if (cause.code === "already_answered") {
        this.end(explain(cause));
        reopen();
        return;
      }
      if (!(cause instanceof Failure)) console.error(cause);
      for (const control of controls) control.disabled = false;
      // What is wrong with edited arguments; the server's hint is about fields of a request.
      this.fail(cause.status === 400 ? cause.message : explain(cause));
      if (!this.editing.hidden) this.edited.focus();
    }
  }

  /** Nothing can be answered any more. */
  end(note) {
    const focused = this.element.contains(document.activeElement) || document.activeElement === document.body;
    this.element.replaceChildren(make("p", { className: "note" }, note));
    announce(note);
    if (focused) focusPrompt();
  }
}

/** One answer: what streams in, or what was stored. */
class AnswerView {
  constructor() {
    this.calls = [];
    this.content = "";
    this.tail = document.createTextNode("");
    this.running = false;
    this.groupTouched = false;
    this.text = make("div", { className: "text", dir: "auto" }, this.tail);
    this.waiting = make("p", { className: "waiting", hidden: true }, text.waiting);
    this.element = make("article", { className: "assistant" }, make("h2", { className: "unseen" }, text.assistant), this.text, this.waiting);
  }

  start() {
    this.running = true;
    this.element.dataset.state = "running";
    this.waiting.hidden = false;
    if (!this.tail.isConnected) {
      this.tail = document.createTextNode("");
      this.text.append(this.tail);
    }
    this.timer = setInterval(() => this.calls.forEach((call) => call.tick(performance.now())), 100);
  }

  /** Words that are whole become links or text for good; the last one stays open, for more may come. */
  addText(delta) {
    this.content += delta;
    const open = this.tail.data + delta;
    const whole = open.search(/\S*$/);
    if (whole > 0) this.tail.before(...linked(open.slice(0, whole)));
    this.tail.data = open.slice(whole);
    if (this.running) {
      this.waiting.hidden = true;
      if (!this.calls.some((call) => call.running)) this.fold(true);
    }
  }

  endText() {
    this.tail.replaceWith(...linked(this.tail.data));
  }

  fold(folded) {
    if (this.group && !this.groupTouched) this.group.open = !folded;
  }

  callStarted(event) {
    this.addCall(new CallView(event, "RUNNING"));
    this.waiting.hidden = true;
    this.fold(false);
    announce(text.callStarted(this.calls.at(-1).name));
  }

  callProgress({ call_id, text: progress }) {
    this.calls.findLast((call) => call.callId === call_id)?.say(progress);
  }

  callEnded(trace) {
    let call = this.calls.findLast((known) => known.callId === trace.call_id && (trace.order === undefined || known.order === trace.order));
    if (call === undefined) {
      call = new CallView(trace, trace.status);
      this.addCall(call);
    }
    call.end(trace);
    this.tally();
    if (!this.running) return;
    this.waiting.hidden = this.calls.some((other) => other.running);
    announce(text.callEnded(call.name, text.status[call.status] ?? call.status));
  }

  addCall(call) {
    this.calls.push(call);
    if (this.group === undefined) {
      this.count = make("span");
      this.tallied = make("span", { className: "tally" });
      const summary = make("summary", {}, this.count, this.tallied);
      summary.addEventListener("click", () => { this.groupTouched = true; });
      this.list = make("div", { className: "list" });
      this.group = make("details", { className: "calls" }, summary, this.list);
      this.text.after(this.group);
    }
    this.list.append(call.element);
    this.tally();
  }

  tally() {
    if (this.group === undefined) return;
    const counts = new Map();
    for (const { status } of this.calls) counts.set(status, (counts.get(status) ?? 0) + 1);
    this.count.textContent = text.calls(this.calls.length);
    this.tallied.textContent = [...counts].map(([status, count]) => `${count} ${text.tally[status] ?? status}`).join(", ");
  }

  /** Ends the running state, whichever way the run ended. */
  settle(state) {
    clearInterval(this.timer);
    this.running = false;
    this.element.dataset.state = state;
    this.waiting.hidden = true;
    this.endText();
    if (this.calls.length) {
      if (state !== "waiting") this.calls.forEach((call) => call.cancel());
      this.tally();
      this.fold(true);
    }
  }

  /** Asks for what the run waits for; `goOn` is called when everything is answered. */
  askFor(requests, goOn) {
    this.approvals?.remove();
    const answered = (taken) => {
      if (taken.run_goes_on) goOn();
    };
    for (const request of requests) this.calls.findLast((call) => call.callId === request.call_id && call.order === request.order)?.setStatus("PENDING");
    this.tally();
    this.approvals = make("div", { className: "approvals" }, ...requests.map((request) => new ApprovalView(request, answered).element));
    this.element.append(this.approvals);
    for (const request of requests) announce(text.approval.title(request.name));
  }

  /** The conversation goes on without what the run waits for. */
  giveUp() {
    this.approvals?.remove();
    this.settle("cancelled");
    this.showNote(text.approval.givenUp);
  }

  showSources(sources) {
    const byModel = (source) => source.origin?.toUpperCase() === "LLM";
    const groups = [[text.sources, sources.filter((source) => !byModel(source))], [text.modelSources, sources.filter(byModel)]];
    for (const [title, items] of groups) {
      if (items.length === 0) continue;
      const list = make("ol", { className: "sources" }, ...items.map(sourceItem));
      this.element.append(make("div", { className: "origin" }, make("h3", {}, title), list));
    }
  }

  showNote(note) {
    this.element.append(make("p", { className: "note", dir: "auto" }, note));
  }

  showUsage(usage) {
    if (Number.isFinite(usage?.total_tokens)) this.element.append(make("p", { className: "meta" }, text.tokens(usage.total_tokens.toLocaleString(language))));
  }
}

function errorBox({ message, code, hint }, again) {
  const box = make("div", { className: "error", attributes: { role: "alert" } }, make("p", { className: "what", dir: "auto" }, message));
  if (hint) box.append(make("p", { className: "hint", dir: "auto" }, ...linked(hint)));
  if (code) box.append(make("p", { className: "code" }, make("code", {}, code)));
  if (again) {
    const button = make("button", { type: "button", className: "quiet" }, text.again);
    button.addEventListener("click", again);
    box.append(button);
  }
  return box;
}

function showMessage(element) {
  page.welcome.hidden = true;
  page.messages.append(element);
}

function showQuestion(question) {
  const body = make("div", { className: "text", dir: "auto" }, ...linked(question));
  const article = make("article", { className: "user" }, make("h2", { className: "unseen" }, text.you), body);
  showMessage(article);
  return article;
}

// Talking to the server.

/** A failure with what the user should read. */
class Failure extends Error {
  constructor({ message, code, hint, status }) {
    super(message || text.failed);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new Failure({ message: text.unreachable, hint: text.unreachableHint });
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  // The server's hint is about keys, which nobody who reads a page has.
  const advice = response.status === 401 ? { hint: text.signIn } : {};
  throw new Failure({ message: text.answeredWith(response.status), ...(body?.error ?? {}), ...advice, status: response.status });
}

async function json(path, options) {
  const response = await request(path, options);
  try {
    return await response.json();
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new Failure({ message: text.unreadable });
  }
}

/** Calls `handle` with each chunk of the stream, until it returns true; fails when the stream ends before its end. */
async function readChunks(response, handle) {
  let done = false;
  const feed = eventParser((data) => {
    if (done) return;
    if (data.trim() === "[DONE]") {
      done = true;
      return;
    }
    let chunk;
    try {
      chunk = JSON.parse(data);
    } catch {
      throw new Failure({ message: text.unreadable });
    }
    if (chunk.error) throw new Failure(chunk.error);
    if (handle(chunk) === true) done = true;
  });
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  try {
    while (!done) {
      const { value, done: ended } = await reader.read();
      if (ended) break;
      feed(decoder.decode(value, { stream: true }));
    }
  } catch (cause) {
    if (cause.name === "AbortError" || cause instanceof Failure) throw cause;
    throw new Failure({ message: text.cutOff, hint: text.cutOffHint });
  } finally {
    // Also tells the server that nobody listens when an event could not be read.
    reader.cancel().catch(() => {});
  }
  if (!done) throw new Failure({ message: text.cutOff, hint: text.cutOffHint });
}

// The conversation.

const session = { conversation: null, run: null, waiting: null, opening: null, models: null, pinned: true };

function setRunning(run) {
  session.run = run;
  page.send.hidden = run !== null;
  page.stop.hidden = run === null;
}

function scrollToEnd() {
  scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}

function conversationStarted(id, question) {
  if (!id || session.conversation === id) return;
  session.conversation = id;
  history.replaceState(null, "", `#c=${encodeURIComponent(id)}`);
  setTitle(question);
}

function setTitle(title) {
  const line = (title ?? "").replace(/\s+/g, " ").trim();
  document.title = line === "" ? "Toolcrib" : `${line.length > 60 ? `${line.slice(0, 60)}…` : line} · Toolcrib`;
}

async function ask(question) {
  if (session.run !== null) return;
  const run = new AbortController();
  setRunning(run);
  session.waiting?.giveUp();
  session.waiting = null;
  // Only the last question can be tried again.
  for (const button of page.messages.querySelectorAll(".error button")) button.remove();
  const answer = new AnswerView();
  answer.start();
  showMessage(answer.element);
  announce(text.working);
  session.pinned = true;
  scrollToEnd();

  const end = { incomplete: null, sources: [], usage: null, paused: null };
  await work(run, answer, end, question, async () => {
    await session.models;
    const response = await request("/v1/chat/completions", {
      method: "POST",
      signal: run.signal,
      headers: { "Content-Type": "application/json", "X-Toolcrib-Events": "1", "X-Toolcrib-Component": "chat" },
      body: JSON.stringify({
        model: page.model.value,
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: "user", content: question }],
        // The answer goes on when the page is left, and is found again when it is opened.
        toolcrib: { conversation: session.conversation ?? "new", background: true },
      }),
    });
    run.id = response.headers.get("X-Toolcrib-Run-Id");
    await readChunks(response, (chunk) => {
      if (run === session.run) handleChunk(chunk, answer, end, question);
    });
  });
}

/** Goes on with an answer whose run goes on by itself. */
async function follow(answer, runId, question) {
  if (session.run !== null) return;
  const run = new AbortController();
  run.id = runId;
  setRunning(run);
  session.waiting = null;
  answer.start();
  session.pinned = true;
  const end = { incomplete: null, sources: [], usage: null, paused: null };
  await work(run, answer, end, question, async () => {
    for (let ended = false; !ended; ) {
      const response = await request(`/api/v1/runs/${encodeURIComponent(runId)}/events`, { signal: run.signal });
      let begins = false;
      await readChunks(response, (event) => {
        begins = event.type === "waiting" || event.type === "running";
        ended = ["finished", "failed", "paused"].includes(event.type);
        if (event.type === "failed") throw new Failure({ message: event.reason, ...event.error });
        if (event.type === "text") answer.addText(event.text);
        else if (run === session.run) handleEvent(event, answer, end, question);
        return begins || ended;
      });
      if (!ended) await new Promise((resolve) => setTimeout(resolve, GOES_ON_POLL_MS));
      run.signal.throwIfAborted();
    }
  });
}

/** Does the work of an answer and shows how it ended. */
async function work(run, answer, end, question, todo) {
  let state = "completed";
  let failure = null;
  try {
    await todo();
    if (end.incomplete) state = "incomplete";
    if (end.paused) state = "waiting";
  } catch (cause) {
    state = cause.name === "AbortError" ? "cancelled" : "failed";
    failure = cause;
  }
  answer.settle(state);
  // The page may show another conversation by now.
  if (run !== session.run) return;
  setRunning(null);
  if (state === "waiting") wait(answer, end.paused, question);
  else finish(answer, end, state, failure, question);
  if (session.pinned) scrollToEnd();
}

/** Asks the user about the calls that wait; the answer goes on when the last is answered. */
function wait(answer, requests, question) {
  session.waiting = answer;
  answer.askFor(requests, () => follow(answer, requests[0].run_id, question));
}

function handleChunk(chunk, answer, end, question) {
  handleEvent(chunk.toolcrib, answer, end, question);
  const delta = chunk.choices?.[0]?.delta?.content;
  if (delta) answer.addText(delta);
  if (chunk.usage) end.usage = chunk.usage;
}

function handleEvent(event, answer, end, question) {
  if (event?.type === "run_started") conversationStarted(event.conversation_id, question);
  else if (event?.type === "call_started") answer.callStarted(event);
  else if (event?.type === "call_progress") answer.callProgress(event);
  else if (event?.type === "call_ended") answer.callEnded(event);
  else if (event?.type === "paused") end.paused = event.requires_approval ?? [];
  else if (event?.type === "finished") Object.assign(end, { incomplete: event.incomplete, sources: event.sources ?? [] });
}

function finish(answer, { incomplete, sources, usage }, state, failure, question) {
  if (state === "cancelled") {
    answer.showNote(text.stopped);
    announce(text.stopped);
  } else if (state === "failed") {
    if (!(failure instanceof Failure)) console.error(failure);
    const shown = failure instanceof Failure ? failure : { message: text.failed };
    answer.element.append(errorBox(shown, () => retry(answer, question)));
    return;
  } else {
    if (answer.content === "") answer.showNote(text.empty);
    if (incomplete) answer.showNote(text.incomplete(incomplete.message));
    announce([answer.content, incomplete && text.incomplete(incomplete.message), sources.length && text.sourceCount(sources.length)].filter(Boolean).join("\n"));
  }
  answer.showSources(sources);
  answer.showUsage(usage);
}

/** Puts the focus where the next message is written, unless that would open a keyboard over the answer. */
function focusPrompt() {
  if (!matchMedia("(pointer: coarse)").matches) page.prompt.focus({ preventScroll: true });
}

function retry(answer, question) {
  if (session.run !== null) return;
  answer.element.remove();
  focusPrompt();
  ask(question);
}

function submit(question) {
  const trimmed = question.trim();
  if (trimmed === "" || session.run !== null || session.opening !== null) return false;
  focusPrompt();
  showQuestion(trimmed);
  ask(trimmed);
  return true;
}

/** Shows nothing, and leaves whatever ran or was loading. */
function clear() {
  session.run?.abort();
  setRunning(null);
  session.opening?.abort();
  session.opening = null;
  session.conversation = null;
  session.waiting = null;
  page.messages.replaceChildren();
  setTitle("");
}

function conversationInAddress() {
  const match = /^#c=([\w%.-]+)$/.exec(location.hash);
  try {
    return match && decodeURIComponent(match[1]);
  } catch {
    return null;
  }
}

async function openFromAddress() {
  const id = conversationInAddress();
  if (id !== null && id === session.conversation) return;
  clear();
  page.welcome.hidden = id !== null;
  if (id === null) return;
  session.conversation = id;
  const opening = new AbortController();
  session.opening = opening;
  try {
    const conversation = await json(`/api/v1/conversations/${encodeURIComponent(id)}`, { signal: opening.signal });
    if (opening.signal.aborted) return;
    showConversation(conversation);
  } catch (cause) {
    if (opening.signal.aborted) return;
    if (!(cause instanceof Failure)) console.error(cause);
    page.messages.replaceChildren(errorBox({ message: text.open, hint: explain(cause), code: cause.code }, reopen));
  }
  if (session.opening === opening) session.opening = null;
}

/** Shows the conversation as it is stored now. */
function reopen() {
  session.conversation = null;
  openFromAddress();
}

function showConversation({ title, messages }) {
  setTitle(title);
  page.messages.replaceChildren();
  page.welcome.hidden = messages.length > 0;
  let question = "";
  messages.forEach((message, position) => {
    if (message.role === "user") {
      question = message.content ?? "";
      if (question !== "") showQuestion(question);
    } else {
      showStored(message, question, position === messages.length - 1);
    }
  });
  scrollToEnd();
}

function showStored({ run_id, content, calls, sources, state, reason, requires_approval }, question, isLast) {
  const answer = new AnswerView();
  if (state === "running") {
    // Its events tell everything from the beginning.
    showMessage(answer.element);
    follow(answer, run_id, question);
    return;
  }
  const open = state === "waiting";
  for (const trace of calls ?? []) answer.callEnded(trace.status === "PENDING" && !open ? { ...trace, status: "CANCELLED" } : trace);
  answer.addText(content ?? "");
  answer.endText();
  answer.element.dataset.state = state ?? "completed";
  if (state === "failed") {
    answer.element.append(errorBox({ message: text.state.failed, hint: reason }, isLast && question ? () => retry(answer, question) : null));
  } else if (state === "incomplete" && reason) answer.showNote(text.incomplete(reason));
  else if (state === "waiting") {
    showMessage(answer.element);
    if (requires_approval?.length) wait(answer, requires_approval, question);
    else follow(answer, run_id, question);
    return;
  } else if (text.state[state]) answer.showNote(text.state[state]);
  else if (!content) answer.showNote(text.empty);
  answer.showSources(sources ?? []);
  showMessage(answer.element);
}

// Models.

async function loadModels() {
  try {
    const { data } = await json("/v1/models");
    const options = data.map(({ id, toolcrib }) => {
      const isDefault = toolcrib?.default === true;
      return make("option", { value: id, selected: isDefault, defaultSelected: isDefault, data: { confidence: toolcrib?.confidence ?? "" } }, id);
    });
    page.model.replaceChildren(...(options.length ? options : [make("option", { value: "" }, text.noModels)]));
    page.model.disabled = options.length === 0;
    showConfidence();
  } catch (cause) {
    const box = errorBox({ message: text.models, hint: explain(cause), code: cause.code }, () => {
      box.remove();
      session.models = loadModels();
    });
    page.composer.before(box);
  }
}

function showConfidence() {
  const level = page.model.selectedOptions[0]?.dataset.confidence ?? "";
  const word = level.toLowerCase().replaceAll("_", " ");
  page.confidence.hidden = level === "";
  page.confidence.replaceChildren(make("span", { className: "label" }, `${text.confidence} `), word);
  page.confidence.title = text.confidenceTitle(word);
}

// What the user does.

function submitPrompt() {
  if (submit(page.prompt.value)) {
    page.prompt.value = "";
    fitPrompt();
  }
}

function fitPrompt() {
  if (CSS.supports("field-sizing", "content")) return;
  page.prompt.style.height = "auto";
  page.prompt.style.height = `${page.prompt.scrollHeight}px`;
}

page.composer.addEventListener("submit", (event) => {
  event.preventDefault();
  submitPrompt();
});
page.prompt.addEventListener("input", fitPrompt);
page.prompt.addEventListener("keydown", (event) => {
  // While an input method composes a word, Enter belongs to it.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  submitPrompt();
});
page.stop.addEventListener("click", () => {
  // A run that goes on by itself does not notice that nobody listens.
  if (session.run?.id) request(`/api/v1/runs/${encodeURIComponent(session.run.id)}/cancel`, { method: "POST" }).catch(console.error);
  session.run?.abort();
  focusPrompt();
});
page.fresh.addEventListener("click", () => {
  if (location.hash !== "") history.pushState(null, "", location.pathname);
  clear();
  page.welcome.hidden = false;
  focusPrompt();
});
byId("skip").addEventListener("click", (event) => {
  // The address keeps the conversation.
  event.preventDefault();
  page.prompt.focus({ preventScroll: true });
});
for (const example of document.querySelectorAll(".example")) {
  example.addEventListener("click", () => submit(example.querySelector(".question").textContent));
}
page.model.addEventListener("change", showConfidence);
addEventListener("hashchange", openFromAddress);

// The page follows a growing answer until the user scrolls up or clicks into it.
let lastScroll = 0;
addEventListener("scroll", () => {
  // An answer may have outgrown the view since the page scrolled itself, so that only moving upwards means leaving.
  if (innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_END_PIXELS) session.pinned = true;
  else if (scrollY < lastScroll) session.pinned = false;
  lastScroll = scrollY;
}, { passive: true });
page.messages.addEventListener("click", () => { session.pinned = false; });
new ResizeObserver(() => {
  if (session.run !== null && session.pinned) scrollToEnd();
}).observe(page.messages);

session.models = loadModels();
openFromAddress();
