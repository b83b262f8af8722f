// One run of a network, shown: the title, the answer, what is put out, and the heads.

const SHOWN = 64; // of a longer word the last positions are shown
const headName = (layer, head) => `${layer}.${head}`;
const placesOf = (word) => Array.from(word, (_, p) => p).slice(-SHOWN);
const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

function showTitle(network) {
  const { source, regime, heads, parameters } = network.about;
  byId("title").textContent = network.title;
  document.title = `${network.title} \u00b7 attemper`;
  const sizes = [
    counted(network.layers.length, "layer"), counted(heads, "head"),
    counted(network.coordinates.length, "coordinate"), counted(parameters, "parameter"),
  ].join(", ");
  const from = source === network.title ? [] : ["compiled from ", make("code", {}, source), "; "];
  const how = regime ? `${regime} regime: ` : "";
  byId("about").replaceChildren(...from, `${how}${sizes}; one set of weights for every length`);
}

// The picture that came with the network, an SVG text. No script in it runs: the page's policy names its own.
function showPicture(network) {
  byId("picture-section").hidden = !network.picture;
  byId("picture").replaceChildren();
  if (!network.picture) return;
  const parsed = new DOMParser().parseFromString(network.picture, "image/svg+xml");
  byId("picture").append(document.importNode(parsed.documentElement, true));
}

// How far the certificate goes, and whether that is a warning for a word of n symbols: [text, isWarning].
function horizonOf({ certificate }, n, off) {
  if (off.size) {
    const heads = [...off].sort().map((name) => `head ${name}`).join(", ");
    return [`No certificate is about a network without ${heads}.`, true];
  }
  if (!certificate) return ["No certificate came with this network: nothing says how far float64 is right.", false];
  const { isReal, real, horizon } = certificate;
  const upTo = (length) => (length === null ? "at all lengths" : `up to length ${length.toLocaleString("en")}`);
  const start = isReal
    ? `Its certificate says that it is right ${upTo(real)} in real arithmetic`
    : "Its certificate says nothing of real arithmetic";
  if (horizon === null) return [`${start}, and nothing of float64, which this page computes in.`, true];
  const reach = `${start}, and ${upTo(horizon)} in float64, which this page computes in`;
  if (n > horizon) return [`${reach}: this word is longer, and the answer may be wrong.`, true];
  return [`${reach}.`, false];
}

const MARGIN = "how far the closest sum that is rounded stays from where that fails: 1/4 is perfect, below 0 it failed";

function showAnswer(network, word, ran, off) {
  const verdict = verdictOf(network, ran), n = word.length, last = network.readsFirst ? 0 : n - 1;
  const said = verdict ?? (n ? putOut(network, ran, last) ?? "undecided" : "nothing is put out of the empty word");
  const [horizon, isWarning] = horizonOf(network, n, off);
  const margin = ran.margin === Infinity ? "nothing is rounded" : `margin ${short(ran.margin)}`;
  byId("answer").replaceChildren(
    make("span", { id: "verdict", className: `verdict ${verdict ?? "said"}` }, said),
    make("span", { id: "length" }, n ? counted(n, "symbol") : "the empty word"),
    make("span", { id: "margin", title: MARGIN }, margin),
    ...(off.size ? [make("span", { id: "off" }, `switched off: ${[...off].sort().join(", ")}`)] : []),
    make("p", { id: "horizon", className: isWarning ? "warning" : "" }, horizon),
    ...(n > SHOWN ? [make("p", { id: "cut" }, `Below are the last ${SHOWN} of its positions.`)] : []),
  );
}

function showOutputs(network, word, ran) {
  const places = placesOf(word), read = network.readsFirst ? 0 : word.length - 1;
  const name = network.measure ?? (network.outputs[0][0] === null ? "bit" : "symbol");
  const cells = places.map((p) => {
    const found = putOut(network, ran, p), text = found ?? "?";
    const kind = found === null ? "doubt" : name !== "bit" ? "" : found === "1" ? "one" : "zero";
    const numbers = network.outputs.map(([own, c], k) => `${own ?? network.coordinates[c]}: ${ran.outputs[k][p]}`);
    return { text, kind: p === read ? `${kind} read` : kind, title: numbers.join("\n") };
  });
  const box = byId("outputs");
  box.replaceChildren(tableOf(word, places, [{ name, cells, isOut: true }], "what is put out"));
  if (!network.readsFirst) box.scrollLeft = box.scrollWidth;
}

// The cards of all heads; flip(name) switches a head off or on. Gives what draws the pictures anew.
function showHeads(network, word, ran, off, flip) {
  const drawings = [], cards = [];
  network.layers.forEach((layer, l) => layer.heads.forEach((head, h) => {
    const name = headName(l, h), isOff = off.has(name), card = headCard(network, head, l, h, isOff, () => flip(name));
    if (word.length) drawings.push(addHeat(card, word, ran.heads[l][h], `layer ${l}, head ${h}`));
    cards.push(card);
  }));
  const none = make("p", { className: "hint" }, "This network has no heads.");
  byId("heads").replaceChildren(...(cards.length ? cards : [none]));
  return () => drawings.forEach((draw) => draw());
}

function headCard(network, head, l, h, isOff, onchange) {
  const box = make("input", { type: "checkbox", id: `head-${headName(l, h)}`, checked: !isOff, onchange });
  const targets = [...new Set(head.writes.flatMap((row) => row.map(([c]) => network.coordinates[c])))].join(", ");
  const temperature = head.coldnessText === "1" ? "" : `, 1/temperature ${head.coldnessText}`;
  return make("div", { className: isOff ? "head off" : "head" },
    make("label", {}, box, ` layer ${l}, head ${h}`),
    make("p", {}, `${head.does}, ${head.mask}${temperature}`),
    make("p", { className: "writes" }, `${isOff ? "writes nothing; it would write" : "writes"} ${targets}`));
}

function addHeat(card, word, ran, name) {
  const places = placesOf(word), readout = make("output");
  const weights = places.map((q) => Array.from(ran.weights(q)).slice(-SHOWN));
  const { canvas, draw } = heatMap(weights, word, places, name, (text) => (readout.textContent = text));
  card.append(canvas, readout);
  return draw;
}
