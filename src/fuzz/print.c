/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a campaign for people. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "fuzz/output.h"

enum {
	SHOWN_BYTES = 40,
	SHOWN_RULES = 12,
	SHOWN_FRAMES = 12,
	SHOWN_PATHS = 10,
	SHOWN_FUNCTIONS = 4
};

static void
print_law(const struct st_finding *f, FILE *out)
{
	const struct st_law *law = &f->law;
	if (f->law.form == ST_LAW_EXPONENTIAL)
		fprintf(out, "work grows %.3g times (%.3g to %.3g) with each repetition",
		        law->of.at, law->of.low, law->of.high);
	else if (f->law.form == ST_LAW_POWER && law->of.at > 0)
		fprintf(out, "work ~ n^%.2f (%.2f to %.2f)", law->of.at, law->of.low, law->of.high);
	else if (f->law.form == ST_LAW_POWER)
		fputs("work does not grow", out);
	else
		fputs("the law of its growth cannot be determined", out);
	if (law->form == ST_LAW_UNKNOWN) {
		if (f->times.n)
			fprintf(out, " from %s: try another --size or a longer --judge\n",
			        ST_COUNT(f->times.n, "input", "inputs"));
		else
			fputs(": no input of its family ended within --hang and --judge\n", out);
		return;
	}
	fprintf(out, ", n = %s to %s repetitions of '", ST_NUMBER(law->from), ST_NUMBER(law->to));
	st_fuzz_bytes_print_escaped(&f->family.token, SHOWN_BYTES, out);
	fprintf(out, "%s'%s\n", f->family.token.n > SHOWN_BYTES ? "..." : "",
	        f->family.n_varied ? ", each with different letters" : "");
}

/* The innermost functions on the stack of a fault or a hang. */
static void
print_fuzz_stack(const struct st_fuzz_stack *s, FILE *out)
{
	fputs("   stack:", out);
	for (size_t i = 0; i < s->frames.n && i < SHOWN_FRAMES; i++) {
		const struct st_fuzz_frame *f = &s->frames.v[i];
		const char *base = f->file ? strrchr(f->file, '/') : NULL;
		fprintf(out, "%s %s", i ? " <" : "", f->function ? f->function : "[unknown]");
		if (f->file && f->line)
			fprintf(out, " (%s:%" PRIu32 ")", base ? base + 1 : f->file, f->line);
	}
	if (s->frames.n > SHOWN_FRAMES)
		fprintf(out, " < %s more", ST_NUMBER(s->frames.n - SHOWN_FRAMES));
	else if (s->missing)
		fprintf(out, "%s (%s)", s->frames.n ? "" : " unknown", s->missing);
	fputc('\n', out);
}

static void
print_finding(const struct st_fuzz_campaign *c, const struct st_finding *f, size_t number,
              const char *folder, FILE *out)
{
	fprintf(out, "\n%zu. %s", number, st_finding_kind_name(f->kind));
	if (f->kind == ST_FINDING_FAULT)
		fprintf(out, ": signal %d (%s)", f->signal, strsignal(f->signal));
	if (f->function.name)
		fprintf(out, ": %s (%s)", f->function.name,
		        strrchr(f->function.image, '/') ? strrchr(f->function.image, '/') + 1
		                                        : f->function.image);
	fputc('\n', out);
	if (f->has_family) {
		fputs("   ", out);
		print_law(f, out);
	}
	fprintf(out, "   %s, %s when minimised; its seed has %s",
	        ST_COUNT(f->witness.n, "byte", "bytes"), ST_NUMBER(f->minimal.n),
	        ST_NUMBER(f->seed_bytes));
	fprintf(out, " (%s of them kept)", ST_NUMBER(f->difference.kept));
	if (f->work)
		fprintf(out, "; %.3g times the seed's work",
		        (double)f->work / (double)f->seed_work);
	if (isfinite(f->slowdown.at))
		fprintf(out, ", %.3g times (%.3g to %.3g) its time", f->slowdown.at,
		        f->slowdown.low, f->slowdown.high);
	fputc('\n', out);
	if (f->kind == ST_FINDING_HANG && isfinite(f->witness_seconds) && !f->endless)
		fprintf(out,
		        "   natively it ends after %.3g s: it exceeds the time of --hang only "
		        "under the engine\n",
		        f->witness_seconds);
	if (f->kind != ST_FINDING_SLOW)
		print_fuzz_stack(&f->stack, out);
	fprintf(out, "   %s:", f->chain.n == 1 ? "rule" : "rules");
	if (!f->chain.n)
		fputs(" none: a word of the seed is repeated with different letters", out);
	for (size_t i = 0; i < f->chain.n && i < SHOWN_RULES; i++)
		fprintf(out, " %s", st_rules_name(c->rules, f->chain.v[i]));
	if (f->chain.n > SHOWN_RULES)
		fprintf(out, " and %s more", ST_NUMBER(f->chain.n - SHOWN_RULES));
	fprintf(out, "\n   %s/findings/%zu/%s\n", folder, number,
	        !f->has_family ? "{witness,minimal,difference.txt}"
	        : f->times.n   ? "{witness,minimal,difference.txt,generate.sh,contract.txt}"
	                       : "{witness,minimal,difference.txt,generate.sh}");
}

static const char *
seconds_text(double seconds, char *text, size_t size)
{
	snprintf(text, size, isfinite(seconds) ? "%.4g s" : "", seconds);
	return text;
}

/* Size, time, slowdown and number of rules of each witness, after those of its seed. */
static void
print_witnesses(const struct st_findings *findings, FILE *out, struct st_style style)
{
	static const struct st_table_column columns[] = {{"size", false},  {"work", false},
	                                                 {"time", false},  {"slowdown", false},
	                                                 {"rules", false}, {"input", true}};
	char text[64], work[ST_NUMBER_SIZE];
	struct st_table *t = st_table_new(columns, 6);
	for (size_t i = 0; t && i < findings->list.n; i++) {
		const struct st_finding *f = &findings->list.v[i];
		st_table_cell(t, "%s B", ST_NUMBER(f->seed_bytes));
		st_table_cell(t, "%s", st_number(work, f->seed_work));
		st_table_cell(t, "%s", seconds_text(f->seed_seconds, text, sizeof text));
		st_table_cell(t, "%s", "");
		st_table_cell(t, "%s", "");
		st_table_cell(t, "seed of %zu", i + 1);
		st_table_cell(t, "%s B", ST_NUMBER(f->witness.n));
		st_table_cell(t, "%s", f->work ? st_number(work, f->work) : "");
		st_table_cell(t, "%s%s", f->endless ? "> " : "",
		              seconds_text(f->witness_seconds, text, sizeof text));
		if (isfinite(f->slowdown.at))
			st_table_cell(t, "x%.3g", f->slowdown.at);
		else
			st_table_cell(t, "%s", "");
		st_table_count(t, f->chain.n);
		st_table_cell(t, "witness of %zu", i + 1);
	}
	if (t && st_table_rows(t)) {
		fputc('\n', out);
		st_table_print(t, out, style);
	}
	st_table_free(t);
}

static void
print_fuzz_rules(const struct st_fuzz_campaign *c, FILE *out, struct st_style style)
{
	static const struct st_table_column columns[] = {
	        {"executions", false}, {"hits", false}, {"rule", true}};
	struct st_table *t = st_table_new(columns, 3);
	for (size_t i = 0; t && i < c->hits.n; i++) {
		if (!c->tried.v[i])
			continue;
		st_table_count(t, c->tried.v[i]);
		st_table_count(t, c->hits.v[i]);
		st_table_cell(t, "%s", st_rules_name(c->rules, i));
	}
	if (t && st_table_rows(t)) {
		fputc('\n', out);
		st_table_print(t, out, style);
	}
	st_table_free(t);
}

/* Its last functions. */
static void
print_path_cell(struct st_table *t, const struct st_fuzz_campaign *c,
                struct st_fuzz_functions *functions, uint32_t path)
{
	const char *names[SHOWN_FUNCTIONS + 1] = {0};
	char text[512] = "";
	size_t n = 0;
	for (; path != ST_HASHMAP_NONE && n < SHOWN_FUNCTIONS;
	     path = c->places.paths.v[path].parent)
		names[n++] = st_fuzz_function_name(functions, &c->places.paths.v[path].function);
	if (path != ST_HASHMAP_NONE)
		st_append(text, sizeof text, "... > ");
	while (n--)
		st_append(text, sizeof text, "%.100s%s", names[n], n ? " > " : "");
	st_table_cell(t, "%s", text);
}

/* The path that was hit most often, of those that were hit less than `most` times, or as often
 * and have a greater number than *path. */
static bool
next_path(const struct st_fuzz_campaign *c, size_t *most, uint32_t *path)
{
	size_t best = 0;
	uint32_t found = ST_HASHMAP_NONE;
	for (uint32_t i = 0; i < c->path_hits.n; i++) {
		const size_t hits = c->path_hits.v[i];
		if (hits > best && (hits < *most || (hits == *most && i > *path))) {
			best = hits;
			found = i;
		}
	}
	*most = best;
	*path = found;
	return found != ST_HASHMAP_NONE;
}

static void
print_grown_paths(const struct st_fuzz_campaign *c, struct st_fuzz_functions *functions, FILE *out,
                  struct st_style style)
{
	static const struct st_table_column columns[] = {{"hits", false},
	                                                 {"path that grew most", true}};
	struct st_table *t = st_table_new(columns, 2);
	size_t most = SIZE_MAX, n = 0;
	uint32_t path = 0;
	while (t && n++ < SHOWN_PATHS && next_path(c, &most, &path)) {
		st_table_count(t, most);
		print_path_cell(t, c, functions, path);
	}
	if (t && st_table_rows(t)) {
		fputc('\n', out);
		st_table_print(t, out, style);
	}
	st_table_free(t);
}

/* Why there is no finding. */
static void
print_nothing(const struct st_findings *findings, FILE *out)
{
	fputs("\nno finding: ", out);
	if (findings->linear)
		fprintf(out, "work grew in %s, but by no more than n log n",
		        ST_COUNT(findings->linear, "function", "functions"));
	else if (!findings->unsure && !findings->left)
		fputs("no input made the program do clearly more work", out);
	if (findings->unsure)
		fprintf(out,
		        "%sthe law of %s cannot be determined (try another --size or a longer "
		        "--judge)",
		        findings->linear ? "; " : "",
		        ST_COUNT(findings->unsure, "function", "functions"));
	if (findings->left)
		fprintf(out, "%s%s not judged before judging ended (try a longer --judge)",
		        findings->linear || findings->unsure ? "; " : "",
		        ST_COUNT(findings->left, "input was", "inputs were"));
	fputc('\n', out);
}

void
st_fuzz_print(const struct st_fuzz_campaign *c, const struct st_findings *findings,
              struct st_fuzz_functions *functions, const char *folder, FILE *out,
              struct st_style style)
{
	char most[ST_NUMBER_SIZE];
	const size_t searched = c->n_executions - findings->executions + c->n_elsewhere;
	fprintf(out, "%s of the search, %s of judging: %s, %s, %s%s\n",
	        ST_COUNT(searched, "execution", "executions"), ST_NUMBER(findings->executions),
	        ST_COUNT(c->n_interesting, "interesting input", "interesting inputs"),
	        ST_COUNT(c->n_hangs, "hang", "hangs"), ST_COUNT(c->n_faults, "fault", "faults"),
	        findings->interrupted ? " (interrupted)" : "");
	fprintf(out, "work: %s with the median seed, %s with the worst input (%.3g times)\n",
	        ST_COUNT(c->corpus.base, "block", "blocks"), st_number(most, c->most_work),
	        (double)c->most_work / (double)c->corpus.base);
	if (c->unsteady > 0.01)
		fprintf(out,
		        "note: executions of the same seed differ by %.2g %% in %s: smaller "
		        "growth is ignored\n",
		        c->unsteady * 100, c->target->paths ? "the work on a path" : "their work");
	if (c->exhausted)
		fputs("note: the search ended early, because the rules make no further inputs: "
		      "give other --rules, a larger --size or more seeds\n",
		      out);
	if (c->n_not_executed)
		fprintf(out,
		        "note: the time was over before %s executed: a longer --time, or "
		        "--resume, executes %s\n",
		        ST_COUNT(c->n_not_executed, "input was", "inputs were"),
		        c->n_not_executed == 1 ? "it" : "them");
	for (size_t i = 0; i < findings->list.n; i++)
		print_finding(c, &findings->list.v[i], i + 1, folder, out);
	if (!findings->list.n)
		print_nothing(findings, out);
	else if (findings->left)
		fprintf(out, "\n%s not judged before judging ended (try a longer --judge)\n",
		        ST_COUNT(findings->left, "input was", "inputs were"));
	print_witnesses(findings, out, style);
	print_grown_paths(c, functions, out, style);
	print_fuzz_rules(c, out, style);
}
