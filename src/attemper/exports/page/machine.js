// The machine that a network runs. What comes next is put out by the network itself; of the machine the page
// knows what each token says, so that it can draw where the tokens of a word have come to, run or no run.

const PAUSE = 60; // milliseconds between two steps of a run

// What comes after the word that stands there, if anything does, and the clock of a run (0: none).
const writing = { text: "", after: null, clock: 0 };

// The token that the network writes behind a word: {token}, or {why}, which says why it writes none.
function nextOf(network, word, ran) {
  if (!word.length) return { why: "nothing is put out of the empty word: begin it with a symbol" };
  const token = putOut(network, ran, word.length - 1);
  if (token === null) return { why: "what is put out cannot be read: no step follows" };
  if (!network.alphabet.includes(token)) return { why: `the network puts out ${token}: the run has ended` };
  return { token };
}

// What a counter machine's registers hold after tokens, given by their numbers, and which line comes next (0: none).
function countersAfter({ registers, lines, effects }, tokens) {
  const held = registers.map(() => 0);
  let line = Math.min(1, lines.length);
  for (const [next, register, amount] of tokens.map((token) => effects[token])) {
    line = next;
    if (amount) held[register] += amount;
  }
  return { held, line };
}

// A Turing machine's state after tokens, where its head is, and what was written, from the first cell to the last.
function tapeAfter({ effects }, tokens) {
  const cells = new Map();
  let state = "A", head = 0;
  for (const [next, written, move] of tokens.map((token) => effects[token])) {
    state = next;
    if (move) cells.set(head, written);
    head += move;
  }
  const first = Math.min(head, ...cells.keys()), last = Math.max(head, ...cells.keys());
  const tape = Array.from({ length: last - first + 1 }, (_, k) => cells.get(first + k) ?? "0");
  return { state, head: head - first, tape };
}

// Where the machine is after the word, and what the network writes next; other networks have no such part.
function showMachine(network, word, ran) {
  const { machine } = network;
  byId("machine").hidden = !machine;
  if (!machine) return;
  const tokens = word.map((symbol) => network.alphabet.indexOf(symbol));
  (machine.kind === "tape" ? drawTape : drawCounters)(machine, tokens);
  const end = word.length < longestOf(network) ? null : "this page runs no longer word";
  const { token, why = end } = nextOf(network, word, ran);
  writing.text = state.text;
  writing.after = why ? null : textOf([...word, token], network.alphabet);
  offer(why ?? `the network puts out ${token}`);
}

// Where the word is not run, nothing is drawn, and nothing follows.
function clearMachine() {
  writing.after = null;
  byId("held").replaceChildren();
  byId("drawn").replaceChildren();
  offer("the word is not run");
}

function offer(said) {
  byId("next").textContent = said;
  byId("step").disabled = byId("go").disabled = writing.after === null;
}

function drawCounters(machine, tokens) {
  const { held, line } = countersAfter(machine, tokens), listed = [...machine.lines, "halt"];
  const number = line ? line - 1 : machine.lines.length;
  const values = machine.registers.map((name, r) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, held[r].toLocaleString("en"))));
  const come = line ? ["the line ", make("code", {}, listed[number]), " comes next"] : ["no line comes next"];
  byId("held").replaceChildren(make("dl", {}, ...values), make("p", {}, ...come));
  const own = (k) => (k === number ? { className: "here", aria: { "aria-current": "step" } } : {});
  const items = listed.map((text, k) => make("li", own(k), text));
  byId("drawn").replaceChildren(make("ol", { className: "listing" }, ...items));
  bringIntoView(items[number]);
}

function drawTape(machine, tokens) {
  const { state: letter, head, tape } = tapeAfter(machine, tokens);
  byId("held").replaceChildren(make("p", {}, `state ${letter}; the head is on ${tape[head]}`));
  const cells = tape.map((symbol, k) =>
    make("span", { className: k === head ? "here" : "" }, make("small", {}, k === head ? letter : ""), symbol));
  const label = `tape ${tape.join(" ")}; the head is on cell ${head + 1} of ${tape.length}`;
  const blank = (text) => make("span", { className: "blank" }, make("small"), text);
  const all = [blank("\u2026 0"), ...cells, blank("0 \u2026")];
  byId("drawn").replaceChildren(make("div", { className: "tape", aria: { role: "img", "aria-label": label } }, ...all));
  bringIntoView(cells[head]);
}

function bringIntoView(element) {
  const box = byId("drawn");
  box.scrollLeft = element.offsetLeft - box.clientWidth / 2;
  box.scrollTop = element.offsetTop - box.clientHeight / 2;
}

// Writes the next token behind the word, if the word is still the one that the token was put out for.
function write() {
  if (writing.after === null || writing.text !== state.text) return false;
  const box = byId("word");
  state.text = box.value = writing.after;
  box.scrollLeft = box.scrollWidth;
  refresh();
  return writing.after !== null;
}

// Step after step, until nothing follows. No step of a run is read aloud, nor kept in the address: its end is.
function startRun() {
  const next = () => { writing.clock = setTimeout(() => (write() ? next() : endRun()), PAUSE); };
  hush(true);
  next();
}

function endRun() {
  if (!writing.clock) return;
  clearTimeout(writing.clock);
  writing.clock = 0;
  hush(false);
  remember();
  refresh();
}

function hush(isRunning) {
  byId("go").textContent = isRunning ? "stop" : "run";
  for (const id of ["answer", "held", "next"]) byId(id).setAttribute("aria-live", isRunning ? "off" : "polite");
}
