// What this is, and the three doors.
import { base } from "../lib/api.js";
import { el } from "../lib/dom.js";

const doors = [
  ["/send", "Send", "Drop files for somebody. Open the link you were given, and see when they arrive."],
  ["/inbox", "Inbox", "What waits for a workspace: fetch it, confirm it, and make links for those who send."],
  ["/operator", "Operator", "The whole place: what waits where, how fast it moves, and what needs a hand."],
];

export function show(main) {
  main.append(
    el("h1", { text: "Held until called for" }),
    el("p", { class: "lead", text: "Restante takes files from one side and hands them out on the other, even when nobody is there to take them yet." }),
    el("div", { class: "doors" }, doors.map(([href, name, text]) =>
      el("a", { class: "sheet", href: base + href, "data-view": true }, el("h2", { text: name }), el("p", { class: "soft", text })))));
}
