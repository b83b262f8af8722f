// What is read out of a run: words, verdicts, symbols and numbers.

// The word that a text is: symbols between blanks, or run together if all are single characters.
// Gives {word} or {error}, which names the first symbol that the network does not know.
function wordOf(text, alphabet) {
  const isSingle = alphabet.every((symbol) => [...symbol].length === 1);
  const pieces = text.split(/[^\S\uFEFF]+/).filter((piece) => piece !== "");
  const word = isSingle ? pieces.flatMap((piece) => [...piece]) : pieces;
  const known = new Set(alphabet), place = word.findIndex((symbol) => !known.has(symbol));
  if (place < 0) return { word };
  const hint = isSingle ? "" : "; separate symbols by blanks";
  const listed = alphabet.slice(0, 40).join(" ") + (alphabet.length > 40 ? " ..." : "");
  const shown = [...word[place]].slice(0, 40).join("");
  return { error: `symbol '${shown}' at position ${place + 1} is not in the alphabet {${listed}}${hint}` };
}

// The text that wordOf reads as the word.
const textOf = (word, alphabet) => word.join(alphabet.every((symbol) => [...symbol].length === 1) ? "" : " ");

// A bit: true from 3/4 on, false up to 1/4; null where it is neither, or infinite, or a clamp's margin is negative.
function bitOf(value, margin) {
  if (!(margin >= 0) || !Number.isFinite(value)) return null;
  return value >= 0.75 ? true : value <= 0.25 ? false : null;
}

// What the network says of the word: "accepted", "rejected" or "undecided"; null where it puts out no bit.
function verdictOf(network, ran) {
  if (network.measure !== null || network.outputs[0][0] !== null) return null;
  const bits = ran.outputs[0], n = bits.length;
  const bit = n === 0 ? network.acceptsEmpty : bitOf(bits[network.readsFirst ? 0 : n - 1], ran.margin);
  return bit === null ? "undecided" : bit ? "accepted" : "rejected";
}

// What is put out at position p, from 0, as a text; null where it is undecided.
function putOut(network, ran, p) {
  const row = ran.outputs.map((values) => values[p]), names = network.outputs.map(([name]) => name);
  if (network.measure === null) {
    const bits = row.map((value) => bitOf(value, ran.margin));
    if (names[0] === null) return bits[0] === null ? null : bits[0] ? "1" : "0";
    return bits.includes(null) || bits.filter(Boolean).length !== 1 ? null : names[bits.indexOf(true)];
  }
  if (!(ran.margin >= 0) || !row.every(Number.isFinite)) return null;
  if (network.measure === "distribution") return names.map((name, k) => `${name} ${short(row[k])}`).join(", ");
  if (network.measure === "fraction") return short(row[0]);
  const [first, end] = SEEN[network.over](p, ran.outputs[0].length);
  const whole = integerOf(row[0], Math.abs(end - first));
  return whole === null ? null : String(whole);
}

// The integer within 1/4 of share times count, exactly: a product of floats could round to another. Else null.
function integerOf(share, count) {
  let scale = 1n;
  while (!Number.isInteger(share)) [share, scale] = [share * 2, scale * 2n];
  const product = BigInt(share) * BigInt(count), half = scale / 2n;
  const floor = (a, b) => a / b - BigInt(a % b < 0n);
  const nearest = floor(2n * product + scale, 2n * scale), off = product - nearest * scale;
  return 4n * (off < 0n ? -off : off) <= scale ? nearest : null;
}

// A number in few digits.
function short(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}
