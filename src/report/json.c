/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result for other programs; docs/json.md is the contract, and a change that breaks a reader
 * raises the version. */
#include "report/json.h"
#include "report/basic_blocks.h"
#include "report/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "profile/waits.h"
#include "report/kept.h"
#include "report/measurements.h"
#include "report/places.h"
#include "report/qos.h"

json_t *
st_json_text(const char *bytes)
{
	json_t *plain = json_string(bytes);
	if (plain)
		return plain;
	char *clean = malloc(3 * strlen(bytes) + 1), *out = clean;
	if (!clean)
		return NULL;
	for (const unsigned char *in = (const unsigned char *)bytes; *in;) {
		size_t n = st_utf8_length(in);
		memcpy(out, n ? (const char *)in : "\xef\xbf\xbd", n ? n : 3);
		out += n ? n : 3;
		in += n ? n : 1;
	}
	*out = '\0';
	plain = json_string(clean);
	free(clean);
	return plain;
}

void
st_json_print(const char *bytes, FILE *out)
{
	json_t *text = st_json_text(bytes);
	if (!text || json_dumpf(text, out, JSON_ENCODE_ANY))
		fputs("null", out);
	json_decref(text);
}

static json_t *
json_text_or_null(const char *bytes)
{
	return bytes ? st_json_text(bytes) : json_null();
}

json_t *
st_json_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *
st_json_count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

char *
st_json_document(json_t *root, size_t flags, const char *what, struct st_error *e)
{
	char *dumped = json_dumps(root, flags), *text = NULL;
	json_decref(root);
	if (!dumped || asprintf(&text, "%s\n", dumped) < 0)
		text = NULL;
	free(dumped);
	if (!text)
		st_cause(e, ST_EXIT_FAILED, "no memory left to write %s", what);
	return text;
}

static json_t *
positive_or_null(int64_t value)
{
	return value > 0 ? json_integer(value) : json_null();
}

static json_t *
slowdown_or_null(double value)
{
	return value > 0 ? json_real(value) : json_null();
}

/* Takes the value over. -1 when memory was exhausted for it or is now. */
static int
set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value);
}

json_t *
st_json_texts(const char *const *v, size_t n)
{
	json_t *array = json_array();
	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(array, st_json_text(v[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

/* Appends a new object to the array and returns it. */
static json_t *
row(json_t *array)
{
	json_t *object = json_object();
	return json_array_append_new(array, object) ? NULL : object;
}

json_t *
st_json_run(const struct st_profile *p)
{
	const struct st_profile_run *run = &p->run;
	json_t *out = json_object();
	int bad = set(out, "command", st_json_texts(run->command.v, run->command.n));
	bad |= set(out, "exit", json_integer(run->exit));
	bad |= set(out, "signal", positive_or_null(run->signal));
	bad |= set(out, "seconds", json_real((double)run->wall_ns / 1e9));
	bad |= set(out, "cpu_seconds",
	           json_real((double)(run->cpu_user_ns + run->cpu_system_ns) / 1e9));
	bad |= set(out, "slowdown", slowdown_or_null(run->slowdown.about));
	bad |= set(out, "slowdown_least", slowdown_or_null(run->slowdown.least));
	bad |= set(out, "slowdown_most", slowdown_or_null(run->slowdown.most));
	bad |= set(out, "cache_share", json_real(st_profile_cache_share(p)));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static int
add_run(json_t *root, const struct st_profile *p)
{
	json_t *strobe = json_object();
	int bad = set(root, "strobe", strobe) | set(root, "run", st_json_run(p));
	bad |= set(strobe, "version", json_integer(ST_JSON_VERSION));
	bad |= set(strobe, "tool", st_json_text(p->run.tool));
	return bad;
}

static int
json_add_counters(json_t *out, const struct st_profile *p)
{
	int bad = 0;
	for (size_t i = 0; i < p->counters.n && p->counters.v[i].process == 0; i++) {
		uint64_t total;
		st_profile_counter(p, p->counters.v[i].name, &total);
		bad |= set(out, p->counters.v[i].name, st_json_count(total));
	}
	return bad;
}

static int
add_processes(json_t *root, const struct st_profile *p)
{
	json_t *array = json_array();
	int bad = set(root, "processes", array);
	for (size_t i = 0; i < p->processes.n && !bad; i++) {
		const struct st_profile_process *in = &p->processes.v[i];
		json_t *out = row(array);
		bad |= set(out, "pid", json_integer(in->pid));
		bad |= set(out, "ppid", json_integer(in->ppid));
		bad |= set(out, "command", st_json_text(in->command));
		bad |= set(out, "exit", in->exited ? json_integer(in->exit) : json_null());
		bad |= set(out, "signal", positive_or_null(in->signal));
		bad |= set(out, "state", json_string(st_profile_state_name(in->state)));
		for (size_t c = 0; c < p->counters.n; c++)
			if (p->counters.v[c].process == i)
				bad |= set(out, p->counters.v[c].name,
				           st_json_count(p->counters.v[c].total));
	}
	return bad;
}

static json_t *
aliases_of(const struct st_profile *p, uint32_t function)
{
	size_t n;
	const struct st_profile_alias *aliases = st_profile_aliases(p, function, &n);
	json_t *array = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, st_json_text(aliases[i].name));
	return array;
}

static int
add_functions(json_t *root, const struct st_report *r)
{
	const struct st_profile *p = r->profile;
	const bool waits = st_profile_has_waits(p);
	json_t *array = json_array();
	size_t n;
	uint32_t *order = st_report_order(r, &n);
	int bad = set(root, "functions", array) | !order;
	for (size_t i = 0; !bad && i < (r->top && r->top < n ? r->top : n); i++) {
		const struct st_profile_function *f = &p->functions.v[order[i]];
		json_t *out = row(array);
		bad |= set(out, "name", st_json_text(f->name));
		bad |= set(out, "aliases", aliases_of(p, order[i]));
		bad |= set(out, "image", st_json_text(p->images.v[f->image].path));
		bad |= set(out, "offset", st_json_count(f->offset));
		bad |= set(out, "file", json_text_or_null(f->file));
		bad |= set(out, "line", positive_or_null(f->line));
		bad |= set(out, "calls", st_json_count(f->calls));
		bad |= set(out, "instructions", st_json_count(f->instructions));
		bad |= set(out, "self_share", json_real(st_profile_self_share(p, f)));
		double total = st_profile_total_share(p, f);
		bad |= set(out, "total_share", total >= 0 ? json_real(total) : json_null());
		if (waits) {
			bad |= set(out, "waiting_ns", st_json_count(f->waiting_ns));
			bad |= set(out, "self_waiting_ns", st_json_count(f->self_waiting_ns));
		}
	}
	free(order);
	return bad;
}

static int
json_add_samples(json_t *root, const struct st_profile *p)
{
	json_t *out = json_object();
	int bad = set(root, "samples", out);
	bad |= set(out, "hz", json_integer(p->run.sample_hz));
	bad |= set(out, "by_event", st_json_count(st_profile_statistic(p, "by_event")));
	bad |= set(out, "by_timer", st_json_count(st_profile_statistic(p, "by_timer")));
	bad |= set(out, "program", st_json_count(p->run.samples_code));
	bad |= set(out, "kernel", st_json_count(p->run.samples_kernel));
	bad |= set(out, "engine", st_json_count(p->run.samples_engine));
	bad |= set(out, "dropped", st_json_count(p->run.samples_dropped));
	bad |= set(out, "stacks", st_json_count(p->run.stacks));
	bad |= set(out, "stacks_cut", st_json_count(p->run.stacks_cut));
	if (st_profile_has_waits(p)) {
		bad |= set(out, "on_cpu_ns", st_json_count(p->run.on_cpu_ns));
		bad |= set(out, "waiting_ns", st_json_count(p->run.waiting_ns));
	}
	bad |= set(root, "share_of",
	           json_string(st_profile_share_is_time(p) ? "samples" : "instructions"));
	return bad;
}

static int
json_add_fallbacks(json_t *root, const struct st_profile *p)
{
	json_t *array = json_array();
	int bad = set(root, "fallbacks", array);
	for (size_t i = 0; i < p->fallbacks.n && !bad; i++) {
		const struct st_profile_fallback *f = &p->fallbacks.v[i];
		json_t *out = row(array);
		bool placed = f->image != UINT32_MAX;
		bad |= set(out, "cause", json_string(st_profile_cause_name(f->cause)));
		bad |= set(out, "count", st_json_count(f->count));
		bad |= set(out, "image",
		           placed ? st_json_text(p->images.v[f->image].path) : json_null());
		bad |= set(out, "offset", st_json_count(f->offset));
	}
	return bad | set(root, "notes", st_json_texts(p->notes.v, p->notes.n));
}

/* Names of the functions inlined at a place, innermost first; null when that is not known. */
static json_t *
inlined(struct st_places *places, uint32_t image, uint64_t offset)
{
	enum { DEEPEST = 32 };
	struct st_inlined chain[DEEPEST];
	const char *names[DEEPEST];
	struct st_image *opened = st_places_image(places, image, NULL);
	if (!opened || offset == UINT64_MAX || strcmp(st_image_quality(opened), "full"))
		return json_null();
	size_t n = st_image_inlined(opened, offset, chain, DEEPEST);
	n = n < DEEPEST ? n : DEEPEST;
	for (size_t i = 0; i < n; i++)
		names[i] = chain[i].name;
	return st_json_texts(names, n);
}

static int
add_lines(json_t *root, const struct st_report *r, struct st_places *places)
{
	const struct st_profile *p = r->profile;
	json_t *array = json_array();
	int bad = set(root, "lines", array);
	bool *kept = st_report_hottest_lines(r);
	uint64_t *offsets = calloc(p->lines.n ? p->lines.n : 1, sizeof *offsets);
	bad |= !kept || !offsets;
	if (!bad)
		st_places_of_lines(places, UINT32_MAX, offsets);
	for (size_t i = 0; i < p->lines.n && !bad; i++) {
		if (!kept[i])
			continue;
		const struct st_profile_line *l = &p->lines.v[i];
		json_t *out = row(array);
		bad |= set(out, "file", st_json_text(l->file));
		bad |= set(out, "line", json_integer(l->line));
		bad |= set(out, "function", st_json_text(p->functions.v[l->function].name));
		bad |= set(out, "executions", st_json_count(l->executions));
		bad |= set(out, "instructions", st_json_count(l->instructions));
		bad |= set(out, "samples", st_json_count(l->samples));
		bad |= set(out, "inlined",
		           inlined(places, p->functions.v[l->function].image, offsets[i]));
	}
	free(offsets);
	free(kept);
	return bad;
}

static int
json_add_blocks(json_t *root, const struct st_report *r, struct st_places *places)
{
	const struct st_profile *p = r->profile;
	struct st_basic_blocks blocks;
	json_t *array = json_array();
	int bad = set(root, "basic_blocks", array) | st_basic_blocks_open(&blocks, r);
	bool *kept = bad ? NULL : st_basic_blocks_kept(&blocks);
	bad |= !kept;
	for (size_t i = 0; !bad && i < blocks.n; i++) {
		if (!kept[i])
			continue;
		const struct st_profile_block *b = &blocks.v[i];
		json_t *out = row(array);
		bad |= set(out, "image", st_json_text(p->images.v[b->image].path));
		bad |= set(out, "function", st_json_text(p->functions.v[b->function].name));
		bad |= set(out, "offset", st_json_count(b->offset));
		bad |= set(out, "bytes", json_integer(b->bytes));
		bad |= set(out, "length", json_integer(b->insns));
		bad |= set(out, "ends", json_string(st_profile_end_name(b->end)));
		bad |= set(out, "executions", st_json_count(b->executions));
		bad |= set(out, "instructions", st_json_count(b->instructions));
		bad |= set(out, "samples", st_json_count(b->samples));
		bad |= set(out, "inlined", inlined(places, b->image, b->offset));
	}
	free(kept);
	st_basic_blocks_close(&blocks);
	return bad;
}

static int
add_images(json_t *root, const struct st_profile *p)
{
	json_t *array = json_array();
	int bad = set(root, "images", array);
	for (size_t i = 0; i < p->images.n && !bad; i++) {
		const struct st_profile_image *image = &p->images.v[i];
		json_t *out = row(array);
		bad |= set(out, "path", st_json_text(image->path));
		bad |= set(out, "build_id",
		           *image->build_id ? st_json_text(image->build_id) : json_null());
		bad |= set(out, "program", json_boolean(st_profile_is_program(p, image->path)));
		bad |= set(out, "symbols", st_json_text(image->symbols));
		bad |= set(out, "blocks", st_json_count(image->executions));
		bad |= set(out, "instructions", st_json_count(image->instructions));
		bad |= set(out, "samples", st_json_count(image->samples));
	}
	return bad;
}

static json_t *
nanoseconds_or_null(int64_t ns)
{
	return ns >= 0 ? json_integer(ns) : json_null();
}

static int
json_add_threads(json_t *root, const struct st_profile *p)
{
	const bool waits = st_profile_has_waits(p);
	json_t *array = json_array();
	int bad = set(root, "threads", array);
	for (size_t i = 0; i < p->threads.n && !bad; i++) {
		const struct st_profile_thread *t = &p->threads.v[i];
		json_t *out = row(array);
		bad |= set(out, "pid", json_integer(p->processes.v[t->process].pid));
		bad |= set(out, "tid", json_integer(t->tid));
		bad |= set(out, "name", st_json_text(t->name));
		bad |= set(out, "begin_ns", nanoseconds_or_null(t->begin_ns));
		bad |= set(out, "end_ns", nanoseconds_or_null(t->end_ns));
		bad |= set(out, "samples", st_json_count(t->samples));
		if (waits) {
			bad |= set(out, "on_cpu_ns", st_json_count(t->on_cpu_ns));
			bad |= set(out, "waiting_ns", st_json_count(t->waiting_ns));
		}
	}
	return bad;
}

static int
add_stats(json_t *root, const struct st_profile *p)
{
	json_t *out = json_object();
	int bad = set(root, "engine", out);
	for (size_t i = 0; i < p->statistics.n && p->statistics.v[i].process == 0; i++)
		bad |= set(out, p->statistics.v[i].name,
		           st_json_count(st_profile_statistic(p, p->statistics.v[i].name)));
	return bad;
}

static int
add_parts(json_t *root, const struct st_report *r)
{
	const struct st_profile *p = r->profile;
	struct st_places places;
	int bad = st_places_open(&places, p);
	if (!bad && r->parts & ST_PART_LINES)
		bad |= add_lines(root, r, &places);
	if (!bad && r->parts & ST_PART_BLOCKS)
		bad |= json_add_blocks(root, r, &places);
	st_places_close(&places);
	if (r->parts & ST_PART_IMAGES)
		bad |= add_images(root, p);
	if (r->parts & ST_PART_THREADS)
		bad |= json_add_threads(root, p);
	if (r->parts & ST_PART_STATS)
		bad |= add_stats(root, p);
	return bad;
}

json_t *
st_report_object(const struct st_report *r)
{
	const struct st_profile *p = r->profile;
	json_t *root = json_object();
	int bad = add_run(root, p) | json_add_counters(root, p);
	if (p->run.has_functions)
		bad |= add_functions(root, r) | json_add_samples(root, p);
	if (p->run.follow || p->processes.n > 1)
		bad |= add_processes(root, p);
	bad |= st_json_add_measurements(root, p) != ST_OK;
	bad |= st_json_add_kept(root, p) != ST_OK;
	bad |= st_qos_json(root, p);
	bad |= st_json_add_tables(root, r) | st_json_add_streams(root, p);
	bad |= st_budget_json(root, p) | json_add_fallbacks(root, p) | add_parts(root, r);
	if (!bad)
		return root;
	json_decref(root);
	return NULL;
}

char *
st_report_json(const struct st_report *r, struct st_error *e)
{
	return st_json_document(st_report_object(r), ST_JSON_DOCUMENT, "the result as JSON", e);
}
