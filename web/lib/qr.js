// QR codes (ISO/IEC 18004): bytes, error correction M, versions 1 to 10, which is up to 213 bytes.

// Error correction bytes of a block, then how many blocks of how many data bytes.
const blocks_of = [null, [10, [1, 16]], [16, [1, 28]], [26, [1, 44]], [18, [2, 32]], [24, [2, 43]], [16, [4, 27]], [18, [4, 31]],
  [22, [2, 38], [2, 39]], [22, [3, 36], [2, 37]], [26, [4, 43], [1, 44]]];
const alignment_of = [null, [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];

// The field GF(256) by its powers of 2.
const power = new Uint8Array(512);
const log = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i += 1) {
  power[i] = power[i + 255] = x;
  log[x] = i;
  x = (x << 1) ^ (x & 0x80 ? 0x11d : 0);
}
const multiply = (a, b) => (a && b ? power[log[a] + log[b]] : 0);

function correction(data, size) {
  let generator = [1];
  for (let i = 0; i < size; i += 1) {
    const next = [...generator, 0];
    generator.forEach((value, j) => { next[j + 1] ^= multiply(value, power[i]); });
    generator = next;
  }
  const rest = [...data, ...new Array(size).fill(0)];
  for (let i = 0; i < data.length; i += 1) {
    const factor = rest[i];
    if (factor) generator.forEach((value, j) => { rest[i + j] ^= multiply(value, factor); });
  }
  return rest.slice(data.length);
}

const data_size = (version) => blocks_of[version].slice(1).reduce((sum, [n, size]) => sum + n * size, 0);

function data_bytes(text, version) {
  const bits = [];
  const put = (value, width) => { for (let i = width - 1; i >= 0; i -= 1) bits.push((value >> i) & 1); };
  put(4, 4);  // bytes
  put(text.length, version < 10 ? 8 : 16);
  for (const byte of text) put(byte, 8);
  const size = data_size(version) * 8;
  put(0, Math.min(4, size - bits.length));
  while (bits.length % 8) bits.push(0);
  for (let pad = 0xec; bits.length < size; pad ^= 0xec ^ 0x11) put(pad, 8);
  return Array.from({ length: size / 8 }, (_, i) => parseInt(bits.slice(i * 8, i * 8 + 8).join(""), 2));
}

function interleaved(data, version) {
  const [extra, ...groups] = blocks_of[version];
  const blocks = [];
  let at = 0;
  for (const [n, size] of groups) for (let i = 0; i < n; i += 1) { blocks.push(data.slice(at, at + size)); at += size; }
  const out = [];
  for (let i = 0; i < Math.max(...blocks.map((b) => b.length)); i += 1) for (const block of blocks) if (i < block.length) out.push(block[i]);
  const corrections = blocks.map((block) => correction(block, extra));
  for (let i = 0; i < extra; i += 1) for (const block of corrections) out.push(block[i]);
  return out;
}

// The remainder of a division of polynomials over two elements, behind the value itself.
function with_check(value, width, generator) {
  let rest = value << width;
  const top = 31 - Math.clz32(generator);
  for (let bit = 31 - Math.clz32(rest); rest && bit >= top; bit = 31 - Math.clz32(rest)) rest ^= generator << (bit - top);
  return (value << width) | rest;
}

const masks = [(r, c) => (r + c) % 2 === 0, (r) => r % 2 === 0, (r, c) => c % 3 === 0, (r, c) => (r + c) % 3 === 0,
  (r, c) => ((r >> 1) + Math.floor(c / 3)) % 2 === 0, (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0, (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0];

class Grid {
  constructor(version) {
    this.version = version;
    this.size = 17 + 4 * version;
    this.dark = Array.from({ length: this.size }, () => new Array(this.size).fill(false));
    this.fixed = Array.from({ length: this.size }, () => new Array(this.size).fill(false));
  }
  set(row, column, dark) {
    if (row < 0 || column < 0 || row >= this.size || column >= this.size) return;
    this.dark[row][column] = Boolean(dark);
    this.fixed[row][column] = true;
  }
  // Rings around a centre: dark where the distance is in `rings`.
  rings(row, column, radius, light) {
    for (let r = -radius; r <= radius; r += 1)
      for (let c = -radius; c <= radius; c += 1) this.set(row + r, column + c, !light.includes(Math.max(Math.abs(r), Math.abs(c))));
  }
  draw_patterns() {
    const end = this.size - 1;
    for (let i = 0; i < this.size; i += 1) { this.set(6, i, i % 2 === 0); this.set(i, 6, i % 2 === 0); }
    for (const [r, c] of [[3, 3], [3, end - 3], [end - 3, 3]]) this.rings(r, c, 4, [2, 4]);
    const places = alignment_of[this.version];
    for (const r of places) for (const c of places)
      if (!(r === 6 && c === 6) && !(r === 6 && c === end - 6) && !(r === end - 6 && c === 6)) this.rings(r, c, 2, [1]);
    this.draw_format(0);
    if (this.version < 7) return;
    const bits = with_check(this.version, 12, 0x1f25);
    for (let i = 0; i < 18; i += 1) {
      const a = end - 10 + (i % 3), b = Math.floor(i / 3);
      this.set(a, b, (bits >> i) & 1);
      this.set(b, a, (bits >> i) & 1);
    }
  }
  draw_format(mask) {
    const end = this.size - 1;
    const bits = with_check(mask, 10, 0x537) ^ 0x5412;  // level M is 00
    const bit = (i) => (bits >> i) & 1;
    for (let i = 0; i < 6; i += 1) this.set(i, 8, bit(i));
    this.set(7, 8, bit(6)); this.set(8, 8, bit(7)); this.set(8, 7, bit(8));
    for (let i = 9; i < 15; i += 1) this.set(8, 14 - i, bit(i));
    for (let i = 0; i < 8; i += 1) this.set(8, end - i, bit(i));
    for (let i = 8; i < 15; i += 1) this.set(end - 14 + i, 8, bit(i));
    this.set(end - 7, 8, true);
  }
  draw_data(bytes) {
    let at = 0;
    for (let right = this.size - 1; right > 0; right -= 2) {
      if (right === 6) right = 5;
      for (let step = 0; step < this.size; step += 1) {
        const row = ((right + 1) & 2) === 0 ? this.size - 1 - step : step;
        for (const column of [right, right - 1]) {
          if (this.fixed[row][column]) continue;
          this.dark[row][column] = at < bytes.length * 8 && ((bytes[at >> 3] >> (7 - (at & 7))) & 1) === 1;
          at += 1;
        }
      }
    }
  }
  flip(mask) {
    this.dark.forEach((line, r) => line.forEach((_, c) => { if (!this.fixed[r][c] && masks[mask](r, c)) line[c] = !line[c]; }));
  }
  // How hard it is to read: long runs, blocks, look-alikes of the finders, too much of one colour.
  penalty() {
    let sum = 0, dark = 0;
    const lines = [...this.dark, ...this.dark.map((_, c) => this.dark.map((line) => line[c]))];
    for (const line of lines) {
      const text = line.map((d) => (d ? "1" : "0")).join("");
      for (const run of text.match(/0{5,}|1{5,}/g) ?? []) sum += run.length - 2;
      for (let i = 0; i + 11 <= text.length; i += 1)
        if (["10111010000", "00001011101"].includes(text.slice(i, i + 11))) sum += 40;
    }
    for (let r = 0; r < this.size; r += 1)
      for (let c = 0; c < this.size; c += 1) {
        dark += this.dark[r][c];
        if (r && c && this.dark[r][c] === this.dark[r - 1][c] && this.dark[r][c] === this.dark[r][c - 1] && this.dark[r][c] === this.dark[r - 1][c - 1]) sum += 3;
      }
    return sum + Math.floor(Math.abs((dark * 20) / this.size ** 2 - 10)) * 10;
  }
}

// Rows of booleans, dark is true; null when the text is too long.
export function qr_code(text) {
  const bytes = new TextEncoder().encode(text);
  const version = blocks_of.findIndex((blocks, v) => blocks && bytes.length + (v < 10 ? 2 : 3) <= data_size(v));
  if (version < 0) return null;
  const grid = new Grid(version);
  grid.draw_patterns();
  grid.draw_data(interleaved(data_bytes(bytes, version), version));
  let best = 0, least = Infinity;
  for (let mask = 0; mask < 8; mask += 1) {
    grid.flip(mask);
    grid.draw_format(mask);
    const cost = grid.penalty();
    if (cost < least) { least = cost; best = mask; }
    grid.flip(mask);
  }
  grid.flip(best);
  grid.draw_format(best);
  return grid.dark;
}
