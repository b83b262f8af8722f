// The page's state: the network, the word as it is typed, and the heads that are switched off; all but the
// network stand in the address, after #, so that whoever opens the address sees the same.

const LONGEST = 2000; // longer words are refused: time grows with the square of the length
const state = { network: null, text: "", off: new Set(), redraw: () => {} };

// Shows a network (what page_contents in contents.py makes), its own word, or another one, and heads switched off.
// This is the one way to show another network without loading a page anew: attemper.show(network, text, off).
function show(network, text = textOf(network.word, network.alphabet), off = []) {
  state.network = network;
  state.text = text;
  state.off = new Set(off);
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
  if (error ?? (word.length > LONGEST)) return refuse(error ?? `the word has ${counted(word.length, "symbol")}, and this page runs at most ${LONGEST.toLocaleString("en")}: 'attemper run' reads longer ones`);
  const ran = run(network, word, (layer, head) => off.has(headName(layer, head)));
  document.body.classList.remove("refused");
  state.word = word;
  state.ran = ran;
  showAnswer(network, word, ran, off);
  showOutputs(network, word, ran);
  state.redraw = showHeads(network, word, ran, off, flip);
  showStream(network, word, ran, byId("whole").checked);
}

function refuse(message) {
  byId("answer").replaceChildren(make("span", { id: "verdict", className: "verdict wrong" }, message));
  for (const id of ["outputs", "heads", "stream"]) byId(id).replaceChildren();
}

// The symbols of the alphabet, each a button that types it.
function showSymbols(network) {
  const isSingle = network.alphabet.every((symbol) => [...symbol].length === 1);
  const type = (symbol) => {
    const box = byId("word");
    box.value += isSingle || box.value === "" || /\s$/.test(box.value) ? symbol : ` ${symbol}`;
    box.focus();
    typed();
  };
  const buttons = network.alphabet.slice(0, 40).map((symbol) => make("button", { type: "button", onclick: () => type(symbol), aria: { "aria-label": `type ${symbol}` } }, symbol));
  const more = network.alphabet.length > 40 ? [`and ${network.alphabet.length - 40} more`] : [];
  byId("symbols").replaceChildren(isSingle ? "symbols:" : "symbols, separated by blanks:", ...buttons, ...more);
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
  state.text = byId("word").value;
  byId("main").setAttribute("aria-busy", "true");
  clearTimeout(waiting);
  waiting = setTimeout(() => { remember(); refresh(); }, 40);
}

// Writes the state into the address, and leaves there what is not the page's own. In a frame without an address of its own nothing can be kept.
function remember() {
  const kept = new URLSearchParams(location.hash.slice(1));
  kept.set("word", state.text);
  kept.delete("off");
  if (state.off.size) kept.set("off", [...state.off].sort().join(","));
  try {
    history.replaceState(null, "", `#${kept}`);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}

// The word and the heads that the address says, of this network; null where it says none.
function remembered(network) {
  const kept = new URLSearchParams(location.hash.slice(1));
  const known = network.layers.flatMap((layer, l) => layer.heads.map((_, h) => headName(l, h)));
  const off = (kept.get("off") ?? "").split(",").filter((name) => known.includes(name));
  return kept.has("word") || off.length ? { text: kept.get("word") ?? textOf(network.word, network.alphabet), off } : null;
}

function open(network) {
  const kept = remembered(network);
  if (kept) show(network, kept.text, kept.off);
  else show(network);
}

globalThis.attemper = { show, state };
byId("word").oninput = typed;
byId("whole").onchange = refresh;
byId("source").onclick = () => (byId("interpreter").open = true);
byId("interpreter").querySelector("pre").textContent = [formValue, testValue, normalised, headOn, run].join("\n\n");
matchMedia("(prefers-color-scheme: dark)").onchange = () => state.redraw();
globalThis.onhashchange = () => { if (state.network) open(state.network); };
const given = JSON.parse(byId("network").textContent);
if (given) open(given);
