// Elements of the page. Texts of networks get in as text only, never as markup.

const byId = (id) => document.getElementById(id);

// An element with its properties, attributes (under "aria", a record) and children, which are elements or texts.
function make(tag, { aria = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(aria)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A table over the shown positions: rows are {name, title, cells: [{text, kind, title}], isOut}.
function tableOf(word, places, rows, caption) {
  const heads = places.map((p) => make("th", { scope: "col" }, make("small", {}, String(p + 1)), word[p]));
  const lines = rows.map(({ name, cells, isOut }) =>
    make("tr", { className: isOut ? "out" : "" }, make("th", { scope: "row", title: name }, name),
      ...cells.map(({ text, kind, title }) => make("td", { className: kind, title }, text))));
  return make("table", { aria: { "aria-label": caption } },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "position"), ...heads)),
    make("tbody", {}, ...lines));
}

// A number of the stream as a cell; the whole number is its title.
function numberCell(value, name) {
  const kind = value === 0 ? "zero" : value === 1 ? "one" : "";
  return { text: short(value), kind, title: `${name}: ${value}` };
}
