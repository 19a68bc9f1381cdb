// SPDX-License-Identifier: GPL-3.0-or-later
// A layered layout of a directed graph: callers above callees, few crossings, long edges as chains of points. It is Sugiyama's method;
// src/plot/layers.c has the same steps, so that the page and `strobe plot callgraph` place the same graph in the same way.
const SWEEPS = 12;
const ROUNDS = 12;

// The edges, all pointing downwards: an edge that closes a cycle of a search in depth is reversed.
function downwards(n, edges) {
	const out = Array.from({ length: n }, () => []);
	edges.forEach(({ from }, i) => out[from].push(i));
	const state = new Uint8Array(n); // 1: on the path, 2: done
	const turned = new Uint8Array(edges.length);
	const incoming = new Uint32Array(n);
	for (const { to } of edges) incoming[to]++;
	const starts = [...Array(n).keys()];
	for (const start of [...starts.filter((i) => !incoming[i]), ...starts]) {
		if (state[start]) continue;
		const path = [[start, 0]];
		state[start] = 1;
		while (path.length) {
			const top = path.at(-1);
			const edge = out[top[0]][top[1]++];
			if (edge === undefined) state[path.pop()[0]] = 2;
			else if (state[edges[edge].to] === 1) turned[edge] = 1;
			else if (!state[edges[edge].to]) {
				state[edges[edge].to] = 1;
				path.push([edges[edge].to, 0]);
			}
		}
	}
	return edges.map(({ from, to }, i) => (turned[i] ? [to, from] : [from, to]));
}

// The layer of each node: one below the lowest of its callers; a node without callers is one above the highest of its callees.
function ranksOf(n, pairs) {
	const ranks = new Int32Array(n);
	for (let round = 0, changed = true; changed && round < n; round++) {
		changed = false;
		for (const [from, to] of pairs)
			if (ranks[to] <= ranks[from]) {
				ranks[to] = ranks[from] + 1;
				changed = true;
			}
	}
	const called = new Set(pairs.map(([, to]) => to));
	for (let i = 0; i < n; i++) {
		const below = pairs.filter(([from]) => from === i).map(([, to]) => ranks[to]);
		if (!called.has(i) && below.length) ranks[i] = Math.min(...below) - 1;
	}
	return ranks;
}

// Cells of the layers: the nodes, then a cell for each layer that an edge passes. up, down: neighbours in the layers above and below.
// chains: the cells of each edge.
function cellsOf(n, pairs, ranks) {
	const cells = Array.from({ length: n }, (_, i) => ({ rank: ranks[i], up: [], down: [] }));
	const join = (a, b) => {
		cells[a].down.push(b);
		cells[b].up.push(a);
	};
	const chains = pairs.map(([from, to]) => {
		const chain = [from];
		for (let rank = ranks[from] + 1; rank < ranks[to]; rank++) {
			cells.push({ rank, up: [], down: [], passes: true });
			join(chain.at(-1), cells.length - 1);
			chain.push(cells.length - 1);
		}
		join(chain.at(-1), to);
		return [...chain, to];
	});
	return { cells, chains };
}

function layersOf(cells) {
	const layers = Array.from({ length: cells.reduce((most, { rank }) => Math.max(most, rank + 1), 0) }, () => []);
	cells.forEach(({ rank }, i) => layers[rank].push(i));
	return layers;
}

const placesIn = (layer, places) => layer.forEach((cell, i) => (places[cell] = i));

function crossings(cells, layers, places) {
	let sum = 0;
	for (const layer of layers) {
		const ends = layer.flatMap((cell) => cells[cell].down.map((to) => places[to]).sort((a, b) => a - b));
		for (let i = 0; i < ends.length; i++) for (let k = i + 1; k < ends.length; k++) if (ends[i] > ends[k]) sum++;
	}
	return sum;
}

// Sorts each layer by the mean place of the neighbours of its cells in the layer before, downwards and upwards, and keeps the order
// with the fewest crossings.
function order(cells, layers) {
	const places = new Array(cells.length).fill(0);
	for (const layer of layers) placesIn(layer, places);
	let best = layers.map((layer) => [...layer]);
	let least = crossings(cells, layers, places);
	for (let sweep = 0; sweep < SWEEPS && least; sweep++) {
		const down = sweep % 2 === 0;
		for (const layer of down ? layers : [...layers].reverse()) {
			const wanted = new Map(layer.map((cell) => {
				const near = cells[cell][down ? "up" : "down"];
				return [cell, near.length ? near.reduce((sum, each) => sum + places[each], 0) / near.length : places[cell]];
			}));
			layer.sort((a, b) => wanted.get(a) - wanted.get(b) || places[a] - places[b]);
			placesIn(layer, places);
		}
		const now = crossings(cells, layers, places);
		if (now < least) [least, best] = [now, layers.map((layer) => [...layer])];
	}
	return best;
}

// The positions nearest to the wanted ones (least squares) that keep the distances `apart`: pools those that would be too near.
function spread(wanted, apart) {
	let offset = 0;
	const pools = [];
	const offsets = wanted.map((_, i) => (offset += i ? apart[i] : 0));
	wanted.forEach((at, i) => {
		pools.push({ sum: at - offsets[i], n: 1 });
		while (pools.length > 1 && pools.at(-2).sum / pools.at(-2).n > pools.at(-1).sum / pools.at(-1).n) {
			const { sum, n } = pools.pop();
			pools.at(-1).sum += sum;
			pools.at(-1).n += n;
		}
	});
	const values = pools.flatMap(({ sum, n }) => Array(n).fill(sum / n));
	return values.map((value, i) => value + offsets[i]);
}

// The middle of each cell: as near as possible to its neighbours in the layers above and below.
function across(cells, layers, { width, gap, pass }) {
	const x = new Array(cells.length).fill(0);
	const half = (cell) => (cells[cell].passes ? pass : width) / 2;
	const apart = layers.map((layer) => layer.map((cell, i) => (i ? half(layer[i - 1]) + gap + half(cell) : 0)));
	layers.forEach((layer, r) => {
		let at = 0;
		layer.forEach((cell, i) => (x[cell] = at += apart[r][i]));
	});
	for (let round = 0; round < ROUNDS; round++) {
		const down = round % 2 === 0;
		for (const r of down ? layers.keys() : [...layers.keys()].reverse()) {
			const wanted = layers[r].map((cell) => {
				const near = round < ROUNDS - 2 ? cells[cell][down ? "up" : "down"] : [...cells[cell].up, ...cells[cell].down];
				return near.length ? near.reduce((sum, each) => sum + x[each], 0) / near.length : x[cell];
			});
			spread(wanted, apart[r]).forEach((value, i) => (x[layers[r][i]] = value));
		}
	}
	return x;
}

// edges: {from, to}, indices of nodes; edges of a node with itself are not placed. Returns nodes [{x, y}], the middle of each; routes:
// of each edge the points from the middle of its first node to that of its last one, or null; width and height of all.
export function layout(n, edges, { width = 160, height = 44, gap = 24, rise = 52, pass = 12 } = {}) {
	const placed = edges.map((edge, i) => ({ ...edge, i })).filter(({ from, to }) => from !== to);
	const pairs = downwards(n, placed);
	const { cells, chains } = cellsOf(n, pairs, ranksOf(n, pairs));
	const layers = order(cells, layersOf(cells));
	const x = across(cells, layers, { width, gap, pass });
	const half = (cell) => (cells[cell].passes ? pass : width) / 2;
	const left = x.reduce((least, at, i) => Math.min(least, at - half(i)), Infinity);
	const right = x.reduce((most, at, i) => Math.max(most, at + half(i)), -Infinity);
	const point = (cell) => ({ x: Math.round(x[cell] - left), y: height / 2 + cells[cell].rank * (height + rise) });
	const routes = edges.map(() => null);
	placed.forEach(({ from, i }, k) => {
		const points = chains[k].map(point);
		routes[i] = chains[k][0] === from ? points : points.reverse();
	});
	return { nodes: Array.from({ length: n }, (_, i) => point(i)), routes, width: n ? Math.round(right - left) : 0, height: layers.length ? layers.length * (height + rise) - rise : 0 };
}
