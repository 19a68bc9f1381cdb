// SPDX-License-Identifier: GPL-3.0-or-later
// The views, in the order of their tabs. A view is {id, title, has(run, runs), show(data, element), whole}: title may be
// title(run); has says whether there is anything to show; show draws it once into the element. data is {run, runs, link, go, open},
// where link (parts/link.js) has the choices of the view in the address. show may return {argument(text, values): what the address says
// after #id/, and its choices, shown(): the view is shown,
// key(event): a key was pressed outside of fields and nothing has handled it}. whole: the view is of all runs together.
// docs/report.md has more.
import { callgraph } from "./callgraph.js";
import { campaigns } from "./campaigns.js";
import { causal } from "./causal.js";
import { changes } from "./changes.js";
import { contexts } from "./contexts.js";
import { costs } from "./costs.js";
import { diff } from "./diff.js";
import { faults } from "./faults.js";
import { flame } from "./flame.js";
import { fuzz } from "./fuzz.js";
import { functions } from "./functions.js";
import { history } from "./history.js";
import { lines } from "./lines.js";
import { loops } from "./loops.js";
import { matrix } from "./matrix.js";
import { measurements } from "./measurements.js";
import { memory } from "./memory.js";
import { source } from "./source.js";
import { study } from "./study.js";
import { summary } from "./summary.js";
import { tables } from "./tables.js";
import { targets } from "./targets.js";
import { time } from "./time.js";
import { timeline } from "./timeline.js";
import { traced } from "./traced.js";

export const views = [study, fuzz, summary, memory, measurements, costs, functions, lines, traced, targets, causal, matrix, faults, timeline, flame, callgraph, contexts, loops, source, tables, time, history, changes, campaigns, diff];
