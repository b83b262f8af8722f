// The residual stream, shown: after each step, every coordinate under its label.

const OPENED = 60; // steps that write more coordinates are opened by hand

// Each step has a part of its own, whose table is made when the part is opened.
function showStream(network, word, ran, isWhole) {
  const standing = document.querySelectorAll("#stream details");
  const wereOpen = new Map([...standing].map((part) => [part.dataset.step, part.open]));
  const parts = ran.steps.map((step) => {
    const own = writtenIn(network, step), all = network.coordinates.map((_, c) => c);
    const coordinates = isWhole ? all : own, open = wereOpen.get(step.name) ?? coordinates.length <= OPENED;
    const said = own.length ? counted(own.length, "coordinate") : "nothing";
    const summary = make("summary", {}, step.name, make("small", {}, ` \u00b7 ${said} written`));
    const part = make("details", { open }, summary);
    part.dataset.step = step.name;
    part.ontoggle = () => {
      const isFilled = part.children.length > 1;
      if (part.open && !isFilled && coordinates.length && word.length) {
        part.append(streamTable(network, word, step, coordinates));
      }
    };
    part.ontoggle();
    return part;
  });
  byId("stream").replaceChildren(...parts);
}

// The coordinates that a step can change, in ascending order.
function writtenIn(network, { layer, part }) {
  const rows = {
    embedding: () => [...network.embedding, network.positions],
    heads: () => network.layers[layer].heads.flatMap((head) => head.writes),
    hidden: () => network.layers[layer].hidden.map((unit) => unit.writes),
  }[part]();
  return [...new Set(rows.flatMap((row) => row.map(([c]) => c)))].sort((a, b) => a - b);
}

function streamTable(network, word, step, coordinates) {
  const outputs = new Set(network.outputs.map(([, c]) => c));
  const rows = coordinates.map((c) => {
    const name = network.coordinates[c], cells = step.stream.map((x) => numberCell(x[c], name));
    return { name, cells, isOut: outputs.has(c) };
  });
  return make("div", { className: "scroll", tabIndex: 0, aria: { role: "region", "aria-label": step.name } },
    tableOf(word, placesOf(word), rows, step.name));
}
