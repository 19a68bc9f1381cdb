/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a gate as a JUnit report: each judgement is a test case. */
#include <stdlib.h>

#include "gate/findings.h"
#include "report/text.h"

/* Characters that XML does not allow are replaced. */
static void
junit_put_text(const char *text, FILE *out)
{
	char *printable = st_printable(text);
	for (const char *at = printable ? printable : ""; *at; at++) {
		switch (*at) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*at, out);
		}
	}
	free(printable);
}

static void
junit_put_case(const struct st_gate_finding *f, FILE *out)
{
	static const char *const elements[] = {
	        [ST_GATE_INCONCLUSIVE] = "skipped", [ST_GATE_REGRESSION] = "failure"};
	fputs("  <testcase classname=\"", out);
	junit_put_text(f->benchmark, out);
	fputs("\" name=\"", out);
	junit_put_text(f->quantity, out);
	if (f->function) {
		fputs(" of ", out);
		junit_put_text(f->function, out);
	}
	if (f->verdict == ST_GATE_PASS) {
		fputs("\"/>\n", out);
		return;
	}
	fprintf(out, "\"><%s message=\"", elements[f->verdict]);
	junit_put_text(f->message, out);
	fputs("\"/></testcase>\n", out);
}

void
st_gate_put_junit(const struct st_gate_result *r, const struct st_gate_findings *f, FILE *out)
{
	size_t n[ST_GATE_REGRESSION + 1] = {0};
	double seconds = 0;
	for (size_t i = 0; i < f->v.n; i++)
		n[f->v.v[i].verdict]++;
	for (size_t i = 0; i < r->benchmarks.n; i++)
		seconds += r->benchmarks.v[i].time.seconds;
	fprintf(out,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"strobe gate\" "
	        "tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" errors=\"0\" time=\"%.3f\">\n",
	        f->v.n, n[ST_GATE_REGRESSION], n[ST_GATE_INCONCLUSIVE], seconds);
	for (size_t i = 0; i < f->v.n; i++)
		junit_put_case(&f->v.v[i], out);
	fputs("</testsuite>\n", out);
}
