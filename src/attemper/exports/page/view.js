// One run of a network, shown: the answer, the outputs, the heads and the stream.

const SHOWN = 64; // of a longer word the last positions are shown
const headName = (layer, head) => `${layer}.${head}`;
const placesOf = (word) => Array.from(word, (_, p) => p).slice(-SHOWN);
const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

function showTitle(network) {
  byId("title").textContent = network.title;
  document.title = `${network.title} \u00b7 attemper`;
  const { source, regime, heads, parameters } = network.about;
  const parts = [counted(network.layers.length, "layer"), counted(heads, "head"), counted(network.coordinates.length, "coordinate"), counted(parameters, "parameter")];
  const from = source === network.title ? [] : ["compiled from ", make("code", {}, source), "; "];
  byId("about").replaceChildren(...from, `${regime ? `${regime} regime: ` : ""}${parts.join(", ")}; one set of weights for every length`);
}

// The picture that came with the network, an SVG text; scripts in it do not run, as the page's policy names its own.
function showPicture(network) {
  byId("picture-section").hidden = !network.picture;
  const parsed = network.picture && new DOMParser().parseFromString(network.picture, "image/svg+xml").documentElement;
  byId("picture").replaceChildren(...(parsed ? [document.importNode(parsed, true)] : []));
}

// How far the certificate goes, and whether the word is within: [text, isWarning].
function horizonOf(network, n, off) {
  const claims = network.certificate;
  if (off.size) return [`No certificate is about a network without ${[...off].sort().map((name) => `head ${name}`).join(", ")}.`, true];
  if (!claims) return ["No certificate came with this network: nothing says how far float64 is right.", false];
  const upTo = (length) => (length === null ? "at all lengths" : `up to length ${length.toLocaleString("en")}`);
  const real = claims.isReal ? `Its certificate says that it is right ${upTo(claims.real)} in real arithmetic` : "Its certificate says nothing of real arithmetic";
  if (claims.horizon === null) return [`${real}, and nothing of float64, which this page computes in.`, true];
  const reach = `${real}, and ${upTo(claims.horizon)} in float64, which this page computes in`;
  return n > claims.horizon ? [`${reach}: this word is longer, and the answer may be wrong.`, true] : [`${reach}.`, false];
}

function showAnswer(network, word, ran, off) {
  const verdict = verdictOf(network, ran), n = word.length, last = network.readsFirst ? 0 : n - 1;
  const said = verdict ?? (n ? putOut(network, ran, last) : "nothing is put out of the empty word");
  const [horizon, isWarning] = horizonOf(network, n, off);
  const margin = ran.margin === Infinity ? "nothing is rounded" : `margin ${short(ran.margin)}`;
  byId("answer").replaceChildren(
    make("span", { id: "verdict", className: `verdict ${verdict ?? "said"}` }, said),
    make("span", { id: "length" }, n ? counted(n, "symbol") : "the empty word"),
    make("span", { id: "margin", title: "how far the closest sum that is rounded stays from where rounding fails: 1/4 is perfect, below 0 is undecided" }, margin),
    ...(off.size ? [make("span", { id: "off" }, `switched off: ${[...off].sort().join(", ")}`)] : []),
    make("p", { id: "horizon", className: isWarning ? "warning" : "" }, horizon),
    ...(n > SHOWN ? [make("p", { id: "cut" }, `Below are the last ${SHOWN} of its positions.`)] : []));
}

function showOutputs(network, word, ran) {
  const places = placesOf(word), read = network.readsFirst ? 0 : word.length - 1, kinds = { 1: "one", 0: "zero", "?": "doubt" };
  const name = { integer: "integer", fraction: "fraction", distribution: "distribution" }[network.measure] ?? (network.outputs[0][0] === null ? "bit" : "symbol");
  const cells = places.map((p) => {
    const text = putOut(network, ran, p);
    const title = network.outputs.map(([own, c], k) => `${own ?? network.coordinates[c]}: ${ran.outputs[k][p]}`).join("\n");
    const kind = name === "bit" || text === "?" ? kinds[text] : "";
    return { text, kind: p === read ? `${kind} read` : kind, title };
  });
  byId("outputs").replaceChildren(tableOf(word, places, [{ name, cells, isOut: true }], "what is put out"));
  if (!network.readsFirst) byId("outputs").scrollLeft = byId("outputs").scrollWidth;
}

// The cards of all heads; flip(name) switches a head off or on. Gives what draws the pictures anew.
function showHeads(network, word, ran, off, flip) {
  const places = placesOf(word), drawings = [], box = byId("heads");
  box.replaceChildren();
  network.layers.forEach((layer, l) => layer.heads.forEach((_, h) => {
    box.append(headCard(network, l, h, word, places, ran.heads[l][h], off, flip, drawings));
  }));
  if (!box.children.length) box.append(make("p", { className: "hint" }, "This network has no heads."));
  return () => drawings.forEach((draw) => draw());
}

function headCard(network, l, h, word, places, ran, off, flip, drawings) {
  const head = network.layers[l].heads[h], name = headName(l, h), readout = make("output");
  const box = make("input", { type: "checkbox", id: `head-${name}`, checked: !off.has(name), onchange: () => flip(name) });
  const targets = [...new Set(head.writes.flatMap((row) => row.map(([c]) => network.coordinates[c])))].join(", ");
  const card = make("div", { className: off.has(name) ? "head off" : "head" },
    make("label", {}, box, ` layer ${l}, head ${h}`),
    make("p", {}, `${head.does}, ${head.mask}${head.coldnessText === "1" ? "" : `, 1/temperature ${head.coldnessText}`}`),
    make("p", { className: "writes" }, off.has(name) ? `writes nothing; it would write ${targets}` : `writes ${targets}`));
  if (!places.length) return card;
  const weights = places.map((q) => { const row = ran.weights(q); return places.map((k) => row[k]); });
  const { canvas, draw } = heatMap(weights, word, places, `layer ${l}, head ${h}`, (text) => (readout.textContent = text));
  drawings.push(draw);
  card.append(canvas, readout);
  return card;
}

// The stream after every step, each in a part of its own that is filled when somebody opens it.
function showStream(network, word, ran, isWhole) {
  const open = new Set([...document.querySelectorAll("#stream details[open]")].map((own) => own.dataset.step));
  const parts = ran.steps.map((step) => {
    const own = writtenIn(network, step), coordinates = isWhole ? network.coordinates.map((_, c) => c) : own;
    const fill = () => streamTable(network, word, step, coordinates);
    const part = make("details", { open: word.length > 0 && (open.size ? open.has(step.name) : step.part !== null && coordinates.length <= 60) },
      make("summary", {}, step.name, make("small", {}, ` \u00b7 ${own.length ? counted(own.length, "coordinate") : "nothing"} written`)));
    part.dataset.step = step.name;
    const show = () => { if (part.open && part.children.length === 1 && coordinates.length && word.length) part.append(fill()); };
    part.ontoggle = show;
    show();
    return part;
  });
  byId("stream").replaceChildren(...parts);
}

// The coordinates that a step can change, in ascending order.
function writtenIn(network, { layer, part }) {
  const own = layer === null ? null : network.layers[layer];
  const rows = part === "embedding" ? [...network.embedding, network.positions] : part === "heads" ? own.heads.flatMap((head) => head.writes) : own.hidden.map((unit) => unit.writes);
  return [...new Set(rows.flatMap((row) => row.map(([c]) => c)))].sort((a, b) => a - b);
}

function streamTable(network, word, step, coordinates) {
  const places = placesOf(word), outputs = new Set(network.outputs.map(([, c]) => c));
  const rows = coordinates.map((c) => {
    const name = network.coordinates[c];
    return { name, isOut: outputs.has(c), cells: places.map((p) => numberCell(step.stream[p][c], name)) };
  });
  return make("div", { className: "scroll", tabIndex: 0, aria: { role: "region", "aria-label": step.name } }, tableOf(word, places, rows, step.name));
}
