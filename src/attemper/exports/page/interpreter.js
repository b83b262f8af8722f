// What a compiled network computes on a word, in float64: all of it is here.
//
// A row is a sparse linear form, [[coordinate, weight], ...] with ascending coordinates. The stream is an array
// with one Float64Array of coordinates for each position. Sums run in ascending order, numerators are formed
// before the one division, and powers are repeated products.

// The closed form at position i of a word of length n.
function formValue(form, i, n) {
  if (typeof form === "number") return form;
  if (form === "i") return i;
  if (form === "n") return n;
  if (form === "sign") return i % 2 ? -1 : 1;
  const [kind, ...parts] = form, at = (part) => formValue(part, i, n);
  if (kind === "+") return parts.reduce((sum, part) => sum + at(part), 0);
  if (kind === "*") return parts.reduce((product, part) => product * at(part), 1);
  if (kind === "digits") return at(parts[0]).toString(2).length;
  if (kind === "test") return testValue(parts, i, n);
  if (kind !== "^") throw new Error(`no closed form is called ${kind}`);
  let [base, exponent] = [at(parts[0]), parts[1]], power = 1;
  for (let k = Math.abs(exponent); k > 0; k--) power *= base;
  return exponent < 0 ? 1 / power : power;
}

// 1 if the predicate holds of perPosition i + perLength n + shift, else 0: whole numbers of any size.
function testValue([[kind, modulus, remainder], perPosition, perLength, shift], i, n) {
  const t = BigInt(perPosition) * BigInt(i) + BigInt(perLength) * BigInt(n) + BigInt(shift);
  if (kind === "zero") return Number(t === 0n);
  if (kind === "nonnegative") return Number(t >= 0n);
  if (kind !== "remainder") throw new Error(`no predicate is called ${kind}`);
  const m = BigInt(modulus);
  return Number(((t % m) + m) % m === BigInt(remainder));
}

// The positions, from 0, that position q sees, as [first, end, step]: in the order in which they are added up.
const SEEN = {
  "future-masked": (q) => [0, q + 1, 1],
  "strictly future-masked": (q) => [0, q, 1],
  "past-masked": (q, n) => [n - 1, q - 1, -1],
  "strictly past-masked": (q, n) => [n - 1, q, -1],
  unmasked: (q, n) => [0, n, 1],
};

const dot = (row, x) => row.reduce((sum, [c, weight]) => sum + weight * x[c], 0);
const addRow = (to, row, factor) => row.forEach(([c, weight]) => (to[c] += weight * factor));
const plus = (x, y) => x.map((value, c) => value + y[c]);

// LayerNorm or RMSNorm of one position, as the network reads it; x itself in a network without.
function normalised(x, norm, how) {
  if (!how) return x;
  const mean = how.isCentred ? x.reduce((sum, value) => sum + value, 0) / x.length : 0;
  const square = x.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / x.length;
  const scale = 1 / Math.sqrt(square + how.eps);
  return x.map((value, c) => (value - mean) * scale * norm.gain[c] + norm.bias[c]);
}

// A head on a word: attended(q) are its values' averages at position q, weights(q) its attention to each position.
function headOn(head, read) {
  const n = read.length, keys = read.map((x) => head.key.map((row) => dot(row, x)));
  const values = read.map((x) => head.values.map((row) => dot(row, x)));
  const exponentials = (q) => {
    const coldness = formValue(head.coldness, q + 1, n), [first, end, step] = SEEN[head.mask](q, n);
    const query = head.query.map((row) => dot(row, read[q]) * coldness), found = new Float64Array(n);
    let greatest = -Infinity, total = 0;
    for (let j = first; j !== end; j += step) {
      for (let r = 0; r < query.length; r++) found[j] += query[r] * keys[j][r];
      greatest = Math.max(greatest, found[j]);
    }
    for (let j = first; j !== end; j += step) total += found[j] = Math.exp(found[j] - greatest);
    return { found, total: total === 0 ? 1 : total, first, end, step };
  };
  const weights = (q) => { const { found, total } = exponentials(q); return found.map((e) => e / total); };
  const attended = (q) => {
    const { found, total, first, end, step } = exponentials(q), sums = head.values.map(() => 0);
    for (let j = first; j !== end; j += step) sums.forEach((_, v) => (sums[v] += found[j] * values[j][v]));
    return sums.map((sum) => sum / total);
  };
  return { attended, weights };
}

// The word, an array of symbols, through the network; isOff(layer, head) says which heads add nothing.
// Gives {outputs: [name][position], margin, heads: [layer][head], steps: [{name, stream}, ...]}.
function run(network, word, isOff = () => false) {
  const n = word.length, width = network.coordinates.length, unit = network.normalisation ? network.normalisation.unit : 1;
  const empty = () => new Float64Array(width), steps = [], heads = [];
  let margin = Infinity, stream = word.map((symbol, p) => {
    const places = empty();
    for (const [c, form] of network.positions) places[c] += formValue(form, p + 1, n);
    const x = empty();
    addRow(x, network.embedding[network.alphabet.indexOf(symbol)], 1);
    return plus(x, places);
  });
  const keep = (name, layer, part) => steps.push({ name, layer, part, stream });
  keep("letters and positions", null, "embedding");
  network.layers.forEach((layer, l) => {
    const read = stream.map((x) => normalised(x, layer.beforeHeads, network.normalisation));
    heads.push(layer.heads.map((head) => headOn(head, read)));
    stream = stream.map((x, q) => {
      const added = empty();
      layer.heads.forEach((head, h) => {
        if (!isOff(l, h)) heads[l][h].attended(q).forEach((value, v) => addRow(added, head.writes[v], value));
      });
      return plus(x, added);
    });
    keep(`layer ${l}, heads`, l, "heads");
    stream = stream.map((x) => {
      const own = normalised(x, layer.beforeHidden, network.normalisation), added = empty();
      const pre = layer.hidden.map((unitOf) => dot(unitOf.reads, own) + unitOf.bias);
      layer.clamps.forEach(([low, high]) => (margin = Math.min(margin, Math.max(-pre[low], pre[high]))));
      layer.hidden.forEach((unitOf, u) => addRow(added, unitOf.writes, Math.max(pre[u], 0)));
      return plus(x, added);
    });
    keep(`layer ${l}, feed-forward`, l, "hidden");
  });
  const outputs = network.outputs.map(([, c]) => stream.map((x) => x[c] / unit));
  return { outputs, margin, heads, steps };
}
