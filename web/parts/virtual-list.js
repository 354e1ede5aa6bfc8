// <virtual-list>: thousands of rows at the price of those in sight. All rows are equally high. Set `render(item)` once,
// then `items`; `key(item)` tells rows apart, `refresh(item)` draws one again and `redraw()` all. The focus stays on its button.
import { once_a_frame } from "../lib/dom.js";

const spare = 8;

class VirtualList extends HTMLElement {
  #items = [];
  #nodes = new Map();
  #height = 0;
  #held = null;  // where the focus was
  #draw = once_a_frame(() => this.#place());
  #measure = () => { this.#height = 0; this.#draw(); };

  connectedCallback() {
    this.setAttribute("role", "list");
    addEventListener("scroll", this.#draw, { passive: true });
    addEventListener("resize", this.#measure, { passive: true });
  }
  disconnectedCallback() {
    removeEventListener("scroll", this.#draw);
    removeEventListener("resize", this.#measure);
  }

  set items(list) {
    this.#items = list;
    this.#draw();
  }
  get items() { return this.#items; }

  refresh(item) {
    this.#drop([this.key(item)]);
  }
  redraw() {
    this.#drop([...this.#nodes.keys()]);
  }

  #drop(keys) {
    for (const key of keys) {
      const node = this.#nodes.get(key);
      if (!node) continue;
      if (node.contains(document.activeElement)) this.#held = { key, at: [...node.querySelectorAll("button")].indexOf(document.activeElement) };
      node.remove();
      this.#nodes.delete(key);
    }
    this.#draw();
  }

  #make(item) {
    const node = this.render(item);
    node.setAttribute("role", "listitem");
    return node;
  }

  #place() {
    if (!this.isConnected) return;
    if (this.#items.length === 0) {
      this.#nodes.clear();
      this.replaceChildren();
      this.style.paddingBlock = "0";
      return;
    }
    if (!this.#height) {
      const probe = this.#make(this.#items[0]);
      this.append(probe);
      this.#height = probe.offsetHeight || 80;
      probe.remove();
    }
    const top = this.getBoundingClientRect().top;
    const first = Math.max(0, Math.min(this.#items.length - 1, Math.floor(-top / this.#height)) - spare);
    const last = Math.min(this.#items.length, Math.max(1, Math.ceil((innerHeight - top) / this.#height)) + spare);
    const wanted = new Map();
    for (let i = first; i < last; i += 1) {
      const item = this.#items[i];
      const key = this.key(item);
      const node = this.#nodes.get(key) ?? this.#make(item);
      node.setAttribute("aria-setsize", this.#items.length);
      node.setAttribute("aria-posinset", i + 1);
      wanted.set(key, node);
    }
    for (const [key, node] of this.#nodes) if (!wanted.has(key)) node.remove();
    let before = null;
    for (const node of wanted.values()) {
      const place = before ? before.nextSibling : this.firstChild;
      if (place !== node) this.insertBefore(node, place);
      before = node;
    }
    this.#nodes = wanted;
    if (this.#held && document.activeElement === document.body) wanted.get(this.#held.key)?.querySelectorAll("button")[this.#held.at]?.focus({ preventScroll: true });
    this.#held = null;
    this.style.paddingTop = `${first * this.#height}px`;
    this.style.paddingBottom = `${(this.#items.length - last) * this.#height}px`;
  }
}
customElements.define("virtual-list", VirtualList);
