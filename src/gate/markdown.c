/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a gate as Markdown, for a comment on a pull request. */
#include "gate/findings.h"
#include "report/text.h"

static const char *
markdown_mark(enum st_gate_verdict verdict)
{
	static const char *const marks[] = {"&#9989;", "&#10067;", "&#10060;"};
	return marks[verdict];
}

void
st_gate_put_markdown(const struct st_gate_options *o, const struct st_gate_result *r,
                     const struct st_gate_findings *f, FILE *out)
{
	fprintf(out, "### %s Performance: %s\n\n", markdown_mark(r->verdict),
	        st_gate_verdicts[r->verdict]);
	st_put_markdown(o->names[ST_GATE_TARGET], out);
	fputs(" against ", out);
	st_put_markdown(o->names[ST_GATE_BASE], out);
	fputs("\n\n| | benchmark | verdict | finding |\n|-|-|-|-|\n", out);
	for (size_t i = 0; i < f->v.n; i++) {
		const struct st_gate_finding *x = &f->v.v[i];
		fprintf(out, "| %s | ", markdown_mark(x->verdict));
		st_put_markdown(x->benchmark, out);
		fprintf(out, " | %s | ", st_gate_verdicts[x->verdict]);
		st_put_markdown(x->message, out);
		fputs(" |\n", out);
	}
	for (size_t i = 0; i < r->notes.n; i++) {
		fputs(i ? "- " : "\n- ", out);
		st_put_markdown(r->notes.v[i], out);
		fputc('\n', out);
	}
}
