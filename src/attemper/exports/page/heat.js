// Attention as a square of squares: each row a position that looks, each column one that is looked at.

const LARGEST = 270; // pixels along a side, or more where a square would be less than 5
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A canvas of weights [row][column] over the shown positions; say(text) is told the square that is looked at.
function heatMap(weights, word, places, name, say) {
  const count = places.length, cell = Math.max(5, Math.min(26, Math.floor(LARGEST / Math.max(count, 1))));
  const isLettered = cell >= 12, edge = isLettered ? 18 : 0, side = count * cell + edge;
  const label = described(weights, word, places, name);
  const canvas = make("canvas", { tabIndex: 0, aria: { role: "img", "aria-label": label } });
  const at = { row: count - 1, column: -1 };
  const draw = () => drawHeat(canvas, side, edge, cell, weights, places.map((p) => word[p]), at);
  const look = (row, column) => {
    at.row = Math.max(0, Math.min(count - 1, row));
    at.column = Math.max(0, Math.min(count - 1, column));
    draw();
    const named = (k) => `${places[k] + 1} ${word[places[k]]}`;
    say(`${named(at.row)} \u2192 ${named(at.column)}: ${short(weights[at.row][at.column])}`);
  };
  const leave = () => { at.column = -1; draw(); say(""); };
  canvas.onpointermove = (event) => {
    const box = canvas.getBoundingClientRect();
    const square = (pixels) => Math.floor(((pixels * side) / box.width - edge) / cell);
    look(square(event.clientY - box.y), square(event.clientX - box.x));
  };
  canvas.onpointerleave = canvas.onblur = leave;
  canvas.onfocus = () => { if (at.column < 0) look(at.row, strongest(weights[at.row])); };
  canvas.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    look(at.row + step[0], at.column + step[1]);
  };
  draw();
  return { canvas, draw };
}

const strongest = (row) => row.reduce((best, weight, k) => (weight > row[best] ? k : best), 0);

// What a reader who does not see the picture is told of it.
function described(weights, word, places, name) {
  const last = weights.length - 1, k = strongest(weights[last]), weight = weights[last][k];
  const named = (p) => `${places[p] + 1} (${word[places[p]]})`;
  const looks = weight > 0 ? `looks most at ${named(k)}, with weight ${short(weight)}` : "sees nothing";
  const about = `Attention of ${name} over ${counted(weights.length, "position")}`;
  return `${about}: position ${named(last)} ${looks}. Arrow keys read each weight.`;
}

function drawHeat(canvas, side, edge, cell, weights, symbols, at) {
  const ratio = globalThis.devicePixelRatio || 1, pen = canvas.getContext("2d");
  canvas.width = canvas.height = Math.round(side * ratio);
  canvas.style.width = `${side}px`;
  canvas.style.aspectRatio = "1";
  pen.scale(ratio, ratio);
  pen.font = `${Math.min(12, cell - 2)}px ${colour("--mono")}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = colour("--ground");
  pen.fillRect(edge, edge, side - edge, side - edge);
  const mark = (text, x, y) => {
    const [first, ...more] = text;
    if (edge) pen.fillText(more.length > 1 ? `${first}\u2026` : text, x, y, edge);
  };
  symbols.forEach((symbol, k) => {
    const middle = edge + (k + 0.5) * cell;
    pen.fillStyle = k === at.column ? colour("--blue") : colour("--quiet");
    mark(symbol, middle, edge / 2);
    pen.fillStyle = at.column >= 0 && k === at.row ? colour("--blue") : colour("--quiet");
    mark(symbol, edge / 2, middle);
  });
  pen.fillStyle = colour("--blue");
  weights.forEach((row, q) => row.forEach((weight, k) => {
    pen.globalAlpha = Math.sqrt(Math.min(1, Math.max(0, weight))); // small weights are to be seen, too
    pen.fillRect(edge + k * cell, edge + q * cell, cell - 0.5, cell - 0.5);
  }));
  pen.globalAlpha = 1;
  pen.strokeStyle = colour("--line");
  pen.strokeRect(edge + 0.5, edge + 0.5, side - edge - 1, side - edge - 1);
  if (at.column < 0) return;
  pen.strokeStyle = colour("--ink");
  pen.lineWidth = 1.5;
  pen.strokeRect(edge + at.column * cell + 0.75, edge + at.row * cell + 0.75, cell - 1.5, cell - 1.5);
}
