// SPDX-License-Identifier: GPL-3.0-or-later
// usage: node mix.js ROUNDS. Code that V8 compiles, recompiles and throws away again; helper threads collect and compile.
const rounds = +process.argv[2];
let sum = 0;
const ackermann = (m, n) => m === 0 ? n + 1 : n === 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
class Shape { area() { return 0; } }
class Box extends Shape { constructor(a, b) { super(); this.a = a; this.b = b; } area() { return this.a * this.b; } }
class Disc extends Shape { constructor(r) { super(); this.r = r; } area() { return this.r * this.r * 3; } }
for (let round = 0; round < rounds; round++) {
  sum += ackermann(2, 200);
  const shapes = Array.from({ length: 60000 }, (_, i) => i % 3 ? new Box(i, round) : new Disc(i));
  for (let k = 0; k < 3; k++) for (const s of shapes) sum = (sum + s.area()) % 1000003;
  const words = new Map();
  for (let i = 0; i < 120000; i++) { const w = "w" + i * 7919 % 3001; words.set(w, (words.get(w) || 0) + i); }
  sum += words.get("w42") % 1000;
  const text = JSON.stringify([...words].map(([k, v]) => ({ k, v, l: [v % 7, v % 11] })));
  sum += JSON.parse(text).length + (text.match(/"w\d*[37]"/g) || []).length;
  const f = new Float64Array(120000);
  for (let i = 0; i < f.length; i++) f[i] = Math.sin(i * 1.7) * Math.sqrt(i);
  sum += Math.floor(f.sort()[5000]);
  const made = new Function("n", `let q = ${round}; for (let i = 0; i < n; i++) q = (q * 33 ^ i) | 0; return q;`);
  sum = (sum + made(100000)) % 1000003;
  sum += [...Array(30000).keys()].map(i => (i * 48271 + round) % 65537).sort((a, b) => a - b)[100];
}
console.log(sum);
