// <qr-code>: set `text`.
import { replace, svg } from "../lib/dom.js";
import { qr_code } from "../lib/qr.js";

class QrCode extends HTMLElement {
  set text(value) {
    const rows = qr_code(value);
    if (!rows) return replace(this);
    const quiet = 4;
    const size = rows.length + 2 * quiet;
    let path = "";
    rows.forEach((row, r) => row.forEach((dark, c) => { if (dark) path += `M${c + quiet} ${r + quiet}h1v1h-1z`; }));
    replace(this, svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "QR code of the link", "shape-rendering": "crispEdges" },
      svg("path", { d: path, fill: "#000" })));
  }
}
customElements.define("qr-code", QrCode);
