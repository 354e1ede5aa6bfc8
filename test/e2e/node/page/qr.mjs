// Our QR codes, read by somebody else's reader.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import jsqr from "jsqr";

// As a module, which node would not take a .js file of that folder for.
const source = await readFile(new URL("../../../../web/lib/qr.js", import.meta.url), "utf8");
const { qr_code } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

function read(rows) {
  const scale = 4, quiet = 4, size = (rows.length + 2 * quiet) * scale;
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255);
  rows.forEach((row, r) => row.forEach((dark, c) => {
    for (let y = 0; dark && y < scale; y += 1)
      for (let x = 0; x < scale; x += 1) pixels.fill(0, (((r + quiet) * scale + y) * size + (c + quiet) * scale + x) * 4, (((r + quiet) * scale + y) * size + (c + quiet) * scale + x) * 4 + 3);
  }));
  return jsqr(pixels, size, size)?.data;
}

const letters = "https://files.example.com/send#abcDEF-_0123456789";
let tried = 0;
for (let length = 1; length <= 213; length += length < 20 ? 1 : 7, tried += 1) {
  const text = Array.from({ length }, (_, i) => letters[(i * 7 + length) % letters.length]).join("");
  assert.equal(read(qr_code(text)), text, `${length} bytes`);
}
const whole = "x".repeat(213);
assert.equal(read(qr_code(whole)), whole);
assert.equal(qr_code("x".repeat(214)), null, "too long is said");
console.log(`ok ${tried} codes were read back`);
