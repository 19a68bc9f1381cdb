/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of strobe show beyond the functions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "profile/waits.h"
#include "report/basic_blocks.h"
#include "report/report.h"
#include "wire/results/header.h"

static size_t
parts_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int
parts_descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int
image_order(const void *a, const void *b, void *arg)
{
	const struct st_report *r = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct st_profile_image *x = &r->profile->images.v[i], *y = &r->profile->images.v[j];
	int order = parts_descending(x->instructions, y->instructions);
	return order ? order : (i > j) - (i < j);
}

static size_t
rows(const struct st_report *r, size_t n)
{
	return r->top ? parts_least(r->top, n) : n;
}

static void
parts_finish(const struct st_report *r, FILE *out, const char *title, struct st_table *t,
             size_t all)
{
	fprintf(out, "\n%s%s%s\n", r->style.colour ? "\033[1m" : "", title,
	        r->style.colour ? "\033[0m" : "");
	if (!all)
		fputs("  none\n", out);
	else
		st_table_print(t, out, r->style);
	size_t shown = st_table_rows(t);
	if (shown < all)
		fprintf(out, "  ... and %s more (--top)\n", ST_NUMBER(all - shown));
	st_table_free(t);
}

static void
parts_print_lines(const struct st_report *r, FILE *out)
{
	static const struct st_table_column columns[] = {{"self %", false},
	                                                 {"samples", false},
	                                                 {"executions", false},
	                                                 {"instructions", false},
	                                                 {"line", true}};
	const struct st_profile *p = r->profile;
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	uint32_t *order = st_report_line_order(r);
	for (size_t i = 0; order && i < rows(r, p->lines.n); i++) {
		const struct st_profile_line *l = &p->lines.v[order[i]];
		st_table_cell(t, "%.2f", 100 * st_profile_line_share(p, l));
		st_table_count(t, l->samples);
		st_table_count(t, l->executions);
		st_table_count(t, l->instructions);
		st_table_cell(t, "%s:%u (%s)", l->file, l->line, p->functions.v[l->function].name);
	}
	free(order);
	parts_finish(r, out, "source lines", t, p->lines.n);
}

static void
parts_print_blocks(const struct st_report *r, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"samples", false},  {"executions", false}, {"instructions", false},
	        {"offset", false},   {"bytes", false},      {"insns", false},
	        {"ends with", true}, {"function", true}};
	const struct st_profile *p = r->profile;
	struct st_table *t = st_table_new(columns, 8);
	struct st_basic_blocks blocks;
	const bool bad = st_basic_blocks_open(&blocks, r);
	for (size_t i = 0; !bad && i < rows(r, blocks.n); i++) {
		const struct st_profile_block *b = &blocks.v[blocks.order[i]];
		st_table_count(t, b->samples);
		st_table_count(t, b->executions);
		st_table_count(t, b->instructions);
		st_table_cell(t, "0x%" PRIx64, b->offset);
		st_table_count(t, b->bytes);
		st_table_count(t, b->insns);
		st_table_cell(t, "%s", st_profile_end_name(b->end));
		st_table_function(t, p, b->function);
	}
	parts_finish(r, out, "basic blocks", t, blocks.n);
	st_basic_blocks_close(&blocks);
}

static void
parts_print_images(const struct st_report *r, FILE *out)
{
	static const struct st_table_column columns[] = {{"samples", false},      {"blocks", false},
	                                                 {"instructions", false}, {"symbols", true},
	                                                 {"build-id", true},      {"image", true}};
	const struct st_profile *p = r->profile;
	struct st_table *t = st_table_new(columns, 6);
	uint32_t *order = st_report_ordered(r, p->images.n, image_order);
	for (size_t i = 0; order && i < rows(r, p->images.n); i++) {
		const struct st_profile_image *image = &p->images.v[order[i]];
		st_table_count(t, image->samples);
		st_table_count(t, image->executions);
		st_table_count(t, image->instructions);
		st_table_cell(t, "%s", image->symbols);
		st_table_cell(t, "%.16s", *image->build_id ? image->build_id : "-");
		st_table_cell(t, "%s", image->path);
	}
	free(order);
	parts_finish(r, out, "images", t, p->images.n);
}

static const char *
thread_state(int64_t state)
{
	switch (state) {
	case ST_THREAD_LIVE:
		return "live at the end";
	case ST_THREAD_ENDED:
		return "ended";
	case ST_THREAD_NATIVE:
		return "native";
	default:
		return "unknown";
	}
}

static void
print_threads(const struct st_report *r, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"pid", false},     {"tid", false},  {"began", false}, {"ended", false},
	        {"samples", false}, {"state", true}, {"name", true}};
	static const struct st_table_column with_waits[] = {
	        {"pid", false},     {"tid", false},     {"began", false},
	        {"ended", false},   {"samples", false}, {"on CPU", false},
	        {"waiting", false}, {"state", true},    {"name", true}};
	const struct st_profile *p = r->profile;
	const bool waits = st_profile_has_waits(p);
	struct st_table *t = st_table_new(waits ? with_waits : columns, waits ? 9 : 7);
	for (size_t i = 0; i < rows(r, p->threads.n); i++) {
		const struct st_profile_thread *thread = &p->threads.v[i];
		char began[ST_NUMBER_SIZE], ended[ST_NUMBER_SIZE];
		st_table_cell(t, "%" PRId64, p->processes.v[thread->process].pid);
		st_table_cell(t, "%" PRId64, thread->tid);
		st_table_cell(t, "%s", st_duration(began, thread->begin_ns));
		st_table_cell(t, "%s", st_duration(ended, thread->end_ns));
		st_table_count(t, thread->samples);
		if (waits) {
			st_table_cell(t, "%s", st_duration(began, (int64_t)thread->on_cpu_ns));
			st_table_cell(t, "%s", st_duration(ended, (int64_t)thread->waiting_ns));
		}
		st_table_cell(t, "%s", thread_state(thread->state));
		st_table_cell(t, "%s", thread->name);
	}
	parts_finish(r, out, "threads", t, p->threads.n);
}

static void
print_processes(const struct st_report *r, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"pid", false},          {"ppid", false}, {"time", false},  {"blocks", false},
	        {"instructions", false}, {"state", true}, {"command", true}};
	const struct st_profile *p = r->profile;
	struct st_table *t = st_table_new(columns, 7);
	for (size_t i = 0; i < p->processes.n; i++) {
		const struct st_profile_process *in = &p->processes.v[i];
		char time[ST_NUMBER_SIZE];
		st_table_cell(t, "%" PRId64, in->pid);
		st_table_cell(t, "%" PRId64, in->ppid);
		st_table_cell(t, "%s", st_duration(time, in->wall_ns));
		st_table_count(t, in->executions);
		st_table_count(t, in->instructions);
		st_table_cell(t, "%s", st_profile_state_name(in->state));
		st_table_cell(t, "%s", in->command);
	}
	parts_finish(r, out, "processes", t, p->processes.n);
}

/* The options of the run, then the statistics of the engine, summed over the processes. */
static void
print_stats(const struct st_report *r, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"total", false}, {"statistic", true}, {"meaning", true}};
	const struct st_profile *p = r->profile;
	struct st_table *t = st_table_new(columns, 3);
	size_t n = 0;
	for (; n < p->statistics.n && p->statistics.v[n].process == 0; n++) {
		st_table_count(t, st_profile_statistic(p, p->statistics.v[n].name));
		st_table_cell(t, "%s", p->statistics.v[n].name);
		st_table_cell(t, "%s", p->statistics.v[n].help);
	}
	print_processes(r, out);
	parts_finish(r, out, "engine", t, n);
}

void
st_report_parts(const struct st_report *r, FILE *out)
{
	if (r->parts & ST_PART_LINES)
		parts_print_lines(r, out);
	if (r->parts & ST_PART_BLOCKS)
		parts_print_blocks(r, out);
	if (r->parts & ST_PART_IMAGES)
		parts_print_images(r, out);
	if (r->parts & ST_PART_THREADS)
		print_threads(r, out);
	if (r->parts & ST_PART_STATS)
		print_stats(r, out);
}
