// The form above the network: what is typed is sent to the server on this computer, whose answer the page shows.
// All fields stand in the address, after #, so that whoever opens the address asks the same.
(() => {
  const FIELDS = ["written", "text", "alphabet", "regime", "at", "empty"];
  const own = (id) => document.getElementById(id), form = own("ask-form");
  const offered = JSON.parse(own("examples").textContent);
  let asked = null, shown = null, waiting = null; // the question asked last, that shown, and what stops waiting
  let before = ""; // the text before the last change

  const isUsed = (field) => (form.elements[field].closest?.("label")?.dataset.for ?? "formula regex program").includes(form.elements.written.value);
  const typed = () => Object.fromEntries(FIELDS.filter(isUsed).map((field) => [field, form.elements[field].value]));
  const fill = (question) => {
    for (const field of FIELDS) if (field in question) form.elements[field].value = question[field];
    arrange();
  };

  // Shows the options that this way of writing has, and as many lines as there are.
  function arrange() {
    const written = form.elements.written.value, lines = own("text").value.split("\n").length;
    for (const label of form.querySelectorAll("[data-for]")) label.hidden = !label.dataset.for.includes(written);
    before = own("text").value;
    own("text").rows = Math.min(Math.max(lines, written === "program" ? 5 : 1), 20);
  }

  function remember(question) {
    const kept = new URLSearchParams(location.hash.slice(1));
    for (const field of FIELDS) kept.delete(field);
    for (const [field, value] of Object.entries(question)) if (value) kept.set(field, value);
    if (`#${kept}` !== location.hash) history.pushState(null, "", `#${kept}`);
  }

  function remembered() {
    const kept = new URLSearchParams(location.hash.slice(1));
    if (!kept.has("text")) return null;
    return Object.fromEntries(FIELDS.map((field) => [field, kept.get(field) ?? { written: "formula", regime: "unbounded" }[field] ?? ""]));
  }

  // Asks the server for what is typed; whatever it was still asked before is no longer waited for.
  async function compile() {
    waiting?.abort();
    const stop = (waiting = new AbortController()), question = typed();
    asked = JSON.stringify(question);
    remember(question);
    own("doing").textContent = "compiling ...";
    form.setAttribute("aria-busy", "true");
    try {
      const response = await fetch("compile", { method: "POST", headers: { "content-type": "application/json" }, body: asked, signal: stop.signal });
      const answer = await response.json();
      if (answer.error === undefined) succeed(answer);
      else refuse(answer.error);
    } catch (error) {
      if (stop.signal.aborted) return;
      refuse(`the server does not answer; is 'attemper play' still running? (${error.message})`);
    }
    form.setAttribute("aria-busy", "false");
  }

  function refuse(message) {
    own("doing").textContent = shown === null ? "" : "Below is still the network that was compiled before.";
    own("refusal").textContent = message;
    own("refusal").hidden = false;
  }

  function succeed({ contents, notes }) {
    own("refusal").hidden = true;
    own("doing").textContent = notes.join("; ");
    own("main").hidden = false;
    const address = new URLSearchParams(location.hash.slice(1));
    const alphabet = JSON.stringify(contents.alphabet), keeps = shown === null || shown === alphabet;
    shown = alphabet;
    // A word that was typed is kept where it can be read again; heads that are switched off only when the address is opened.
    attemper.show(contents, keeps && address.has("word") ? address.get("word") : undefined, keeps && address.has("off") ? address.get("off").split(",") : []);
  }

  form.onsubmit = (event) => { event.preventDefault(); compile(); };
  form.onchange = arrange;
  own("text").oninput = () => {
    // The verdict on the empty word was the example's that was there before: what is typed has the usual one.
    const { empty } = form.elements, isExample = (one) => one.text === before && one.empty === empty.value;
    if (Object.values(offered).some(isExample)) empty.value = "";
    arrange();
  };
  own("text").onkeydown = (event) => {
    const isSent = event.key === "Enter" && !event.isComposing && (event.ctrlKey || event.metaKey || (form.elements.written.value !== "program" && !event.shiftKey));
    if (isSent) { event.preventDefault(); compile(); }
  };
  own("example").onchange = (event) => {
    const question = offered[event.target.value];
    if (question) { fill({ alphabet: "", at: "", empty: "", ...question, regime: form.elements.regime.value }); compile(); }
  };
  addEventListener("hashchange", () => {
    const question = remembered();
    if (!question) return;
    fill(question);
    if (JSON.stringify(typed()) !== asked) compile();
  });
  addEventListener("DOMContentLoaded", () => {
    own("main").hidden = true;
    own("promise").textContent = "What you type above is compiled by attemper on this computer. The network then runs in this page: a word is sent to nobody, and nothing is loaded from anywhere. All numbers are float64.";
    fill(remembered() ?? offered.majority);
    compile();
  });
})();
