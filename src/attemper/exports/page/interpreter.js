// What a compiled network computes on a word, in float64: all of it is here.
//
// A row is a sparse linear form, [[coordinate, weight], ...] with ascending coordinates. The stream has an array
// of coordinates for each position. Sums run in ascending order, numerators are formed before the one division,
// and powers are repeated products.

// The closed form at position i of a word of length n.
function formValue(form, i, n) {
  if (typeof form === "number") return form;
  if (form === "i") return i;
  if (form === "n") return n;
  if (form === "sign") return i % 2 ? -1 : 1;
  const [kind, ...parts] = form;
  if (kind === "test") return testValue(parts, i, n);
  if (kind === "+") return parts.reduce((sum, part) => sum + formValue(part, i, n), 0);
  if (kind === "*") return parts.reduce((product, part) => product * formValue(part, i, n), 1);
  if (kind === "digits") return digitsOf(formValue(parts[0], i, n));
  if (kind !== "^") throw new Error(`no closed form is called ${kind}`);
  const base = formValue(parts[0], i, n), exponent = parts[1];
  let power = 1;
  for (let k = 0; k < Math.abs(exponent); k++) power *= base;
  return exponent < 0 ? 1 / power : power;
}

// How many binary digits a positive integer has; what is beyond float64 has no number of them.
function digitsOf(x) {
  return Number.isFinite(x) ? x.toString(2).length : NaN;
}

// 1 if the predicate holds of perPosition i + perLength n + shift, else 0; these are whole numbers of any size.
function testValue([[kind, modulus, remainder], perPosition, perLength, shift], i, n) {
  const t = BigInt(perPosition) * BigInt(i) + BigInt(perLength) * BigInt(n) + BigInt(shift);
  if (kind === "zero") return Number(t === 0n);
  if (kind === "nonnegative") return Number(t >= 0n);
  if (kind !== "remainder") throw new Error(`no predicate is called ${kind}`);
  const m = BigInt(modulus);
  return Number(((t % m) + m) % m === BigInt(remainder));
}

// Which positions, counted from 0, position q sees: from the first, before the end, by steps, as they are added up.
const SEEN = {
  "future-masked": (q) => [0, q + 1, 1],
  "strictly future-masked": (q) => [0, q, 1],
  "past-masked": (q, n) => [n - 1, q - 1, -1],
  "strictly past-masked": (q, n) => [n - 1, q, -1],
  unmasked: (q, n) => [0, n, 1],
};

const dot = (row, x) => row.reduce((sum, [c, weight]) => sum + weight * x[c], 0);
const add = (to, row, factor) => row.forEach(([c, weight]) => (to[c] += weight * factor));
const plus = (x, y) => x.map((value, c) => value + y[c]);

// What LayerNorm (centred) or RMSNorm makes of one position; x itself in a network without them.
function normalised(x, norm, how) {
  if (!how) return x;
  const mean = how.isCentred ? x.reduce((sum, value) => sum + value, 0) / x.length : 0;
  const square = x.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / x.length;
  // A mean square beyond float64 is no number to divide by: all would be read as 0.
  const scale = square < Infinity ? 1 / Math.sqrt(square + how.eps) : NaN;
  return x.map((value, c) => (value - mean) * scale * norm.gain[c] + norm.bias[c]);
}

// A head on what it reads: weights(q) is what position q attends to, averages(q) the averages of its values.
function headOn(head, read) {
  const n = read.length, keys = read.map((x) => head.key.map((row) => dot(row, x)));
  const values = read.map((x) => head.values.map((row) => dot(row, x)));
  const attention = (q) => {
    const [first, end, step] = SEEN[head.mask](q, n), coldness = formValue(head.coldness, q + 1, n);
    const query = head.query.map((row) => dot(row, read[q]) * coldness), e = new Float64Array(n);
    let greatest = -Infinity, total = 0;
    for (let j = first; j !== end; j += step) {
      for (let r = 0; r < query.length; r++) e[j] += query[r] * keys[j][r];
      greatest = Math.max(greatest, e[j]);
    }
    for (let j = first; j !== end; j += step) total += e[j] = Math.exp(e[j] - greatest);
    return { e, total: first === end ? 1 : total, first, end, step };
  };
  const averages = (q) => {
    const { e, total, first, end, step } = attention(q), sums = head.values.map(() => 0);
    for (let j = first; j !== end; j += step) for (let v = 0; v < sums.length; v++) sums[v] += e[j] * values[j][v];
    return sums.map((sum) => sum / total);
  };
  return { averages, weights: (q) => { const { e, total } = attention(q); return e.map((own) => own / total); } };
}

// The word, an array of symbols, through the network; isOff(layer, head) says which heads add nothing. Gives
// {outputs: [name][position], margin, heads: [layer][head], steps}: the stream after each step, at the last
// `kept` positions. The margin is the least room of a clamp, and -Infinity where a hidden unit sees no number.
function run(network, word, isOff = () => false, kept = word.length) {
  const n = word.length, how = network.normalisation, steps = [], heads = [];
  const zeros = () => new Float64Array(network.coordinates.length);
  let margin = Infinity, stream = word.map((symbol, p) => {
    const letter = zeros(), place = zeros();
    add(letter, network.embedding[network.alphabet.indexOf(symbol)], 1);
    for (const [c, form] of network.positions) place[c] += formValue(form, p + 1, n);
    return plus(letter, place);
  });
  const keep = (name, layer, part) => steps.push({ name, layer, part, stream: stream.slice(n - Math.min(n, kept)) });
  keep("letters and positions", null, "embedding");
  network.layers.forEach((layer, l) => {
    const read = stream.map((x) => normalised(x, layer.beforeHeads, how));
    heads.push(layer.heads.map((head) => headOn(head, read)));
    stream = stream.map((x, q) => {
      const added = zeros();
      layer.heads.forEach((head, h) => {
        if (!isOff(l, h)) heads[l][h].averages(q).forEach((average, v) => add(added, head.writes[v], average));
      });
      return plus(x, added);
    });
    keep(`layer ${l}, heads`, l, "heads");
    stream = stream.map((x) => {
      const own = normalised(x, layer.beforeHidden, how), added = zeros();
      const sums = layer.hidden.map((unit) => dot(unit.reads, own) + unit.bias);
      const room = layer.clamps.map(([low, high]) => Math.max(-sums[low], sums[high]));
      margin = sums.some(Number.isNaN) ? -Infinity : Math.min(margin, ...room);
      layer.hidden.forEach((unit, u) => add(added, unit.writes, Math.max(sums[u], 0)));
      return plus(x, added);
    });
    keep(`layer ${l}, feed-forward`, l, "hidden");
  });
  const outputs = network.outputs.map(([, c]) => stream.map((x) => (how ? x[c] / how.unit : x[c])));
  return { outputs, margin, heads, steps };
}
