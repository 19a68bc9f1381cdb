/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/covered.h"

#include <inttypes.h>

#include "base/number.h"
#include "base/text.h"

/* The images to count: those of the reference, or of the logs when there is none. */
static const struct st_covered *
whole(const struct st_covered_report *r)
{
	return r->against ? r->against : r->logs;
}

static double
covered_percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 100;
}

/* Of one image of the whole. */
struct sums {
	struct st_covered_sum have, all;
};

static void
covered_add_image(const struct st_covered_report *r, const struct st_covered_image *of,
                  struct sums *s)
{
	const struct st_covered_image *m = st_covered_find(r->logs, of->build_id);
	if (m)
		st_covered_add(&s->have, m, of);
	st_covered_add(&s->all, of, NULL);
}

static void
print_row(struct st_table *t, const struct st_covered_report *r, const struct sums *s,
          const char *name)
{
	st_table_count(t, s->have.instructions);
	if (r->against) {
		st_table_count(t, s->all.instructions);
		st_table_cell(t, "%.3f",
		              covered_percent(s->have.instructions, s->all.instructions));
	}
	st_table_count(t, s->have.blocks);
	if (r->against)
		st_table_cell(t, "%.3f", covered_percent(s->have.blocks, s->all.blocks));
	st_table_count(t, s->have.bytes);
	st_table_cell(t, "%s", name);
}

static void
covered_print_images(const struct st_covered_report *r, FILE *out, struct sums *total)
{
	static const struct st_table_column compared[] = {{"instructions", false},
	                                                  {"of", false},
	                                                  {"%", false},
	                                                  {"blocks", false},
	                                                  {"%", false},
	                                                  {"bytes", false},
	                                                  {"image", true}},
	                                    alone[] = {{"instructions", false},
	                                               {"blocks", false},
	                                               {"bytes", false},
	                                               {"image", true}};
	struct st_table *t = r->against ? st_table_new(compared, 7) : st_table_new(alone, 4);
	if (!t)
		return;
	for (size_t i = 0; i < whole(r)->images.n; i++) {
		struct sums s = {0};
		char *name = st_printable(whole(r)->images.v[i].path);
		covered_add_image(r, &whole(r)->images.v[i], &s);
		covered_add_image(r, &whole(r)->images.v[i], total);
		if (s.all.instructions)
			print_row(t, r, &s, name ? name : "");
		free(name);
	}
	print_row(t, r, total, "all");
	fputc('\n', out);
	st_table_print(t, out, r->style);
	st_table_free(t);
}

/* Of all that the logs hold, also what a reference does not. */
static struct st_covered_sum
sum_of_logs(const struct st_covered_report *r)
{
	struct st_covered_sum sum = {0};
	for (size_t i = 0; i < r->logs->images.n; i++)
		st_covered_add(&sum, &r->logs->images.v[i], NULL);
	return sum;
}

static void
print_sentences(const struct st_covered_report *r, FILE *out, const struct sums *total)
{
	const struct st_covered_sum logs = sum_of_logs(r);
	uint64_t again = logs.raw - logs.instructions;
	char a[ST_NUMBER_SIZE], b[ST_NUMBER_SIZE];
	fprintf(out, "  %s, %s without an end\n", ST_COUNT(r->logs->runs, "run", "runs"),
	        ST_NUMBER(r->logs->unended));
	if (r->logs->contexts)
		fprintf(out, "  contexts of functions: %s\n", st_number(a, r->logs->contexts));
	if (r->logs->contexts && !logs.instructions)
		return;
	fprintf(out, "  unique: %s in %s",
	        ST_COUNT(logs.instructions, "instruction", "instructions"),
	        ST_COUNT(logs.blocks, "block", "blocks"));
	fprintf(out, "; with repetitions: %s\n", ST_COUNT(logs.raw, "instruction", "instructions"));
	fprintf(out, "  false positives: %s measured again (%.3f %%)\n",
	        ST_COUNT(again, "instruction was", "instructions were"),
	        logs.raw ? covered_percent(again, logs.raw) : 0);
	fprintf(out,
	        "  false negatives: %s skipped as measured, but not in the log (%.3f %% of %s)\n",
	        ST_COUNT(r->logs->wrongly_refused, "instruction was", "instructions were"),
	        r->logs->refused ? covered_percent(r->logs->wrongly_refused, r->logs->refused) : 0,
	        st_number(b, r->logs->refused));
	if (!r->against)
		return;
	fprintf(out, "  unique coverage: %.3f %% of the instructions, %.3f %% of the blocks; ",
	        covered_percent(total->have.instructions, total->all.instructions),
	        covered_percent(total->have.blocks, total->all.blocks));
	fprintf(out, "raw coverage: %.3f %%\n", covered_percent(logs.raw, total->all.raw));
	fprintf(out, "  missing: %s; beyond the reference: %s\n",
	        ST_COUNT(total->all.instructions - total->have.instructions, "instruction",
	                 "instructions"),
	        st_number(b, logs.instructions - total->have.instructions));
}

static bool
covered_shows(const struct st_covered_report *r, const struct st_table *t)
{
	return !r->top || st_table_rows(t) < r->top;
}

static void
covered_print_function(const struct st_covered_report *r, struct st_table *t,
                       const struct st_covered_image *of, const struct st_covered_function *f)
{
	char *name = f->name ? st_printable(f->name) : NULL, *path = st_printable(of->path);
	st_table_count(t, f->have);
	if (r->against) {
		st_table_count(t, f->all);
		st_table_cell(t, "%.1f", covered_percent(f->have, f->all));
	}
	if (name)
		st_table_cell(t, "%s [%s]", name, path ? path : "");
	else
		st_table_cell(t, "0x%" PRIx64 " [%s]", f->offset, path ? path : "");
	free(name);
	free(path);
}

static int
missing_order(const void *a, const void *b)
{
	const struct st_covered_function *x = a, *y = b;
	uint64_t m = x->all - x->have, n = y->all - y->have;
	if (m != n)
		return m > n ? -1 : 1;
	if (x->all != y->all)
		return x->all > y->all ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void
covered_print_functions(const struct st_covered_report *r, FILE *out)
{
	static const struct st_table_column compared[] = {{"instructions", false},
	                                                  {"of", false},
	                                                  {"%", false},
	                                                  {"function", true}},
	                                    alone[] = {{"instructions", false}, {"function", true}};
	struct st_table *t = r->against ? st_table_new(compared, 4) : st_table_new(alone, 2);
	for (size_t i = 0; t && i < whole(r)->images.n; i++) {
		const struct st_covered_image *of = &whole(r)->images.v[i];
		struct st_covered_functions f;
		st_covered_by_function(&f, of, st_covered_find(r->logs, of->build_id));
		if (f.list.n)
			qsort(f.list.v, f.list.n, sizeof *f.list.v, missing_order);
		for (size_t k = 0; k < f.list.n && covered_shows(r, t); k++)
			covered_print_function(r, t, of, &f.list.v[k]);
		st_covered_functions_free(&f);
	}
	fputc('\n', out);
	if (t)
		st_table_print(t, out, r->style);
	st_table_free(t);
}

static void
print_missing(const struct st_covered_report *r, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"missing", false}, {"of", false}, {"block", false}, {"image", true}};
	struct st_table *t = st_table_new(columns, 4);
	for (size_t i = 0; t && i < whole(r)->images.n; i++) {
		const struct st_covered_image *of = &whole(r)->images.v[i];
		const struct st_covered_image *m = st_covered_find(r->logs, of->build_id);
		char *path = st_printable(of->path);
		for (size_t k = 0; k < of->blocks.n && covered_shows(r, t); k++) {
			const struct st_covered_block *b = &of->blocks.v[k];
			uint32_t have = st_covered_have(m, of, b);
			if (have == b->insns)
				continue;
			st_table_count(t, b->insns - have);
			st_table_count(t, b->insns);
			st_table_cell(t, "0x%" PRIx64, b->offset);
			st_table_cell(t, "%s", path ? path : "");
		}
		free(path);
	}
	fputc('\n', out);
	if (t)
		st_table_print(t, out, r->style);
	st_table_free(t);
}

void
st_covered_print(const struct st_covered_report *r, FILE *out)
{
	struct sums total = {0};
	struct st_text built;
	/* The sentences come first, and need the sums. */
	FILE *table = st_text_begin(&built);
	if (!table)
		return;
	covered_print_images(r, table, &total);
	char *images = st_text_end(&built);
	print_sentences(r, out, &total);
	bool code = total.all.instructions || !r->logs->contexts;
	fputs(code && images ? images : "", out);
	free(images);
	if (code && r->functions)
		covered_print_functions(r, out);
	if (r->missing)
		print_missing(r, out);
}
