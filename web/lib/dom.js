// Elements from data. Text only ever becomes text: nothing here, or anywhere else in web/, reads HTML.

const svg_space = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) throw new Error("handlers are functions");
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(svg_space, tag), attributes, children);
}

export function replace(node, ...children) {
  node.replaceChildren(...children.flat().filter(Boolean));
}

// Sets text only where it differs, so that nothing is laid out, or read aloud, for no reason.
export function set_text(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// For screen readers: what has just happened.
export function say(text) {
  set_text(document.getElementById("said"), text);
}

export function button(text, on_click, attributes = {}) {
  return el("button", { type: "button", ...attributes, text, on: { click: on_click } });
}

// A note with a title and what to do.
export function note(kind, { title, advice }) {
  return el("div", { class: `note ${kind}`, role: kind === "bad" ? "alert" : "status" },
    el("strong", { text: title }), advice && el("p", { text: advice }));
}

// Many changes, one drawing: calls `draw` once in the next frame.
export function once_a_frame(draw) {
  let planned = false;
  return () => {
    if (planned) return;
    planned = true;
    requestAnimationFrame(() => { planned = false; draw(); });
  };
}
