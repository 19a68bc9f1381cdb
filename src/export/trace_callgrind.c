/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/trace_callgrind.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/profile.h"

struct writer {
	const struct st_trace *t;
	FILE *out;
	bool *named; /* by function: its name has been written, and its number is enough */
};

static void
write_text_callgrind(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc(*text == '\n' || *text == '\r' ? '?' : *text, out);
}

static void
write_field(const char *key, const char *value, FILE *out)
{
	fprintf(out, "%s=", key);
	write_text_callgrind(value ? value : "\?\?\?", out); /* as callgrind itself says */
	fputc('\n', out);
}

/* prefix: "c" for what is called. */
static void
write_function(struct writer *w, const char *prefix, uint32_t i)
{
	const struct st_trace_function *f = &w->t->functions.v[i];
	const bool called = *prefix != '\0';
	write_field(called ? "cob" : "ob", f->image, w->out);
	write_field(called ? "cfi" : "fl", f->file, w->out);
	fprintf(w->out, "%sfn=(%" PRIu32 ")", prefix, i + 1);
	if (!w->named[i]) {
		fputc(' ', w->out);
		write_text_callgrind(f->name, w->out);
	}
	fputc('\n', w->out);
	w->named[i] = true;
}

static void
write_header(const struct st_trace *t, const struct st_profile *p, FILE *out)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < t->functions.n; i++)
		sum += t->functions.v[i].exclusive_ns;
	fputs("# callgrind format\nversion: 1\ncreator: strobe trace\n", out);
	if (p && p->run.command.n) {
		fputs("cmd:", out);
		for (size_t i = 0; i < p->run.command.n; i++) {
			fputc(' ', out);
			write_text_callgrind(p->run.command.v[i], out);
		}
		fputc('\n', out);
	}
	fprintf(out,
	        "positions: line\nevent: Ns : Time in nanoseconds\nevents: Ns\nsummary: %" PRIu64
	        "\n",
	        sum);
}

/* first: by function, its first pair as a caller + 1; next: by pair, the next one of its caller. */
static void
chain_pairs(const struct st_trace *t, uint32_t *first, uint32_t *next)
{
	for (size_t i = t->pairs.n; i-- > 0;) {
		const uint32_t caller = t->pairs.v[i].caller;
		if (caller == ST_TRACE_NOBODY)
			continue;
		next[i] = first[caller];
		first[caller] = (uint32_t)i + 1;
	}
}

static void
write_all_callgrind(struct writer *w, const uint32_t *first, const uint32_t *next)
{
	const struct st_trace *t = w->t;
	for (uint32_t i = 0; i < t->functions.n; i++) {
		const struct st_trace_function *f = &t->functions.v[i];
		fputc('\n', w->out);
		write_function(w, "", i);
		fprintf(w->out, "%" PRIu32 " %" PRIu64 "\n", f->line, f->exclusive_ns);
		for (uint32_t k = first[i]; k; k = next[k - 1]) {
			const struct st_trace_pair *pair = &t->pairs.v[k - 1];
			write_function(w, "c", pair->callee);
			fprintf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n",
			        pair->calls, t->functions.v[pair->callee].line, f->line,
			        pair->inclusive_ns);
		}
	}
}

st_status
st_trace_callgrind(const struct st_trace *t, const struct st_profile *p, FILE *out)
{
	struct writer w = {t, out, calloc(t->functions.n + 1, sizeof *w.named)};
	uint32_t *first = calloc(t->functions.n + 1, sizeof *first),
	         *next = calloc(t->pairs.n + 1, sizeof *next);
	const st_status status = w.named && first && next ? ST_OK : ST_FAILED;
	if (!status) {
		chain_pairs(t, first, next);
		write_header(t, p, out);
		write_all_callgrind(&w, first, next);
	}
	free(w.named);
	free(first);
	free(next);
	return status;
}
