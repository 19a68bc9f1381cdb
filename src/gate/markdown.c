/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a gate as Markdown, for a comment on a pull request. */
#include <string.h>

#include "gate/findings.h"

/* Escapes markup, and characters that end a cell of a table. */
static void
markdown_put_plain(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\n' || *text == '\r') {
			fputc(' ', out);
			continue;
		}
		if (*text == '<') {
			fputs("&lt;", out);
			continue;
		}
		if (*text == '@')
			fputs("&#8203;", out); /* a mention would notify a user */
		if (strchr("\\`*_[]#|~", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

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
	markdown_put_plain(o->names[ST_GATE_TARGET], out);
	fputs(" against ", out);
	markdown_put_plain(o->names[ST_GATE_BASE], out);
	fputs("\n\n| | benchmark | verdict | finding |\n|-|-|-|-|\n", out);
	for (size_t i = 0; i < f->v.n; i++) {
		const struct st_gate_finding *x = &f->v.v[i];
		fprintf(out, "| %s | ", markdown_mark(x->verdict));
		markdown_put_plain(x->benchmark, out);
		fprintf(out, " | %s | ", st_gate_verdicts[x->verdict]);
		markdown_put_plain(x->message, out);
		fputs(" |\n", out);
	}
	for (size_t i = 0; i < r->notes.n; i++) {
		fputs(i ? "- " : "\n- ", out);
		markdown_put_plain(r->notes.v[i], out);
		fputc('\n', out);
	}
}
