// The page's state: the network, the word as it is typed, and the heads that are switched off. All but the
// network stands in the address, after #, so that whoever opens the address sees the same.

// Time grows with the square of the length: longer words are refused, and shorter ones where heads are many.
const LONGEST = 2000, MOST_WEIGHTS = 1e8;
const state = { network: null, text: "", off: new Set(), redraw: () => {} };

// Shows a network (what page_contents in contents.py makes), its own word or another one, heads switched off.
// This is the one way to show another network without loading a page anew: attemper.show(network, text, off).
function show(network, text = textOf(network.word, network.alphabet), off = []) {
  endRun();
  const known = network.layers.flatMap((layer, l) => layer.heads.map((_, h) => headName(l, h)));
  Object.assign(state, { network, text, off: new Set(off.filter((name) => known.includes(name))) });
  byId("word").value = text;
  showTitle(network);
  showPicture(network);
  showSymbols(network);
  refresh();
}

// Runs the word that is typed, and shows all of it.
function refresh() {
  const { network, text, off } = state, { word, error } = wordOf(text, network.alphabet);
  byId("main").setAttribute("aria-busy", "false");
  const complaint = error ?? tooLong(network, word.length);
  if (complaint) return refuse(complaint);
  const ran = run(network, word, (layer, head) => off.has(headName(layer, head)), SHOWN);
  showAnswer(network, word, ran, off);
  showMachine(network, word, ran);
  showOutputs(network, word, ran);
  state.redraw = showHeads(network, word, ran, off, flip);
  showStream(network, word, ran, byId("whole").checked);
}

const longestOf = ({ about }) => Math.min(LONGEST, Math.floor(Math.sqrt(MOST_WEIGHTS / Math.max(1, about.heads))));

function tooLong(network, n) {
  const most = longestOf(network);
  const limit = `this page runs at most ${most.toLocaleString("en")} through this network`;
  return n <= most ? null : `the word has ${counted(n, "symbol")}, and ${limit}: 'attemper run' reads longer words`;
}

function refuse(message) {
  byId("answer").replaceChildren(make("span", { id: "verdict", className: "verdict wrong" }, message));
  for (const id of ["outputs", "heads", "stream"]) byId(id).replaceChildren();
  clearMachine();
}

const MOST_BUTTONS = 40;

// The symbols of the alphabet, each a button that types it.
function showSymbols({ alphabet }) {
  const isSingle = alphabet.every((symbol) => [...symbol].length === 1), box = byId("word");
  const type = (symbol) => {
    box.value += isSingle || box.value === "" || /\s$/.test(box.value) ? symbol : ` ${symbol}`;
    box.focus();
    typed();
  };
  const button = (symbol) =>
    make("button", { type: "button", onclick: () => type(symbol), aria: { "aria-label": `type ${symbol}` } }, symbol);
  const more = alphabet.length > MOST_BUTTONS ? [`and ${alphabet.length - MOST_BUTTONS} more`] : [];
  const said = isSingle ? "symbols:" : "symbols, separated by blanks:";
  byId("symbols").replaceChildren(said, ...alphabet.slice(0, MOST_BUTTONS).map(button), ...more);
}

// Switches a head off, or on again.
function flip(name) {
  if (!state.off.delete(name)) state.off.add(name);
  remember();
  refresh();
  byId(`head-${name}`)?.focus();
}

let waiting = 0;
function typed() {
  if (!state.network) return;
  state.text = byId("word").value;
  endRun();
  byId("main").setAttribute("aria-busy", "true");
  clearTimeout(waiting);
  waiting = setTimeout(() => { remember(); refresh(); }, 40);
}

// Writes the state into the address, and leaves there what is not the page's own.
function remember() {
  const kept = new URLSearchParams(location.hash.slice(1));
  kept.set("word", state.text);
  kept.delete("off");
  if (state.off.size) kept.set("off", [...state.off].sort().join(","));
  try {
    history.replaceState(null, "", `#${kept}`);
  } catch (error) {
    // A frame without an address of its own keeps nothing, and runs all the same.
    if (!(error instanceof DOMException)) throw error;
  }
}

// The network with the word and the heads that the address says; as it is where the address says nothing.
function openAddress(network) {
  const kept = new URLSearchParams(location.hash.slice(1));
  show(network, kept.get("word") ?? undefined, (kept.get("off") ?? "").split(","));
}

globalThis.attemper = { show, state, run, verdictOf };
const code = document.currentScript.textContent, given = JSON.parse(byId("network").textContent);
const interpreter = code.slice(code.indexOf("// What a compiled"), code.indexOf("// What is read"));
byId("interpreter").querySelector("pre").textContent = interpreter;
byId("word").oninput = typed;
byId("step").onclick = () => { write(); remember(); };
byId("go").onclick = () => (writing.clock ? endRun() : startRun());
byId("whole").onchange = () => { if (state.network) refresh(); };
matchMedia("(prefers-color-scheme: dark)").onchange = () => state.redraw();
globalThis.onhashchange = () => { if (state.network) openAddress(state.network); };
if (given) openAddress(given);
