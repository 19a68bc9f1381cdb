// SPDX-License-Identifier: GPL-3.0-or-later
import "./style/page.css";
import "./style/tables.css";
import "./style/views.css";
import "./style/graph.css";
import { readDocument } from "./data/model.js";
import { h } from "./parts/dom.js";
import { Shell } from "./parts/shell.js";
import { views } from "./views/index.js";

const root = document.getElementById("page");
try {
	new Shell(root, readDocument(document.getElementById("data").textContent), views);
} catch (error) {
	root.replaceChildren(h("p.nothing", { role: "alert" }, `This report cannot be shown: ${error.message}`));
	throw error;
}
