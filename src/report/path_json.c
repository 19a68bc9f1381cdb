/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The path as JSON, written as it goes: a window may be long. */
#include <inttypes.h>
#include <jansson.h>

#include "report/json.h"
#include "report/path.h"

struct writer {
	const struct st_path_report *r;
	FILE *out;
	bool failed;
};

static void
write_value(struct writer *w, json_t *value)
{
	if (!value || json_dumpf(value, w->out, JSON_COMPACT | JSON_ENCODE_ANY))
		w->failed = true;
	json_decref(value);
}

static json_t *
address_json(const struct writer *w, uint32_t image, uint64_t offset)
{
	const struct st_code *c = &w->r->walk->code;
	struct st_image *i = st_code_image(c, image);
	const struct st_function *f = i ? st_code_function(i, offset) : NULL;
	struct st_line line = {0};
	json_t *out = json_object();
	if (image < c->images.n)
		json_object_set_new(out, "image", st_json_text(c->images.v[image].path));
	json_object_set_new(out, "offset", st_json_count(offset));
	if (f)
		json_object_set_new(out, "function", st_json_text(f->name));
	if (i && !st_image_line(i, offset, &line) && line.file && line.line) {
		json_object_set_new(out, "file", st_json_text(line.file));
		json_object_set_new(out, "line", st_json_count(line.line));
	}
	return out;
}

static void
path_json_write_place(struct writer *w, uint32_t place)
{
	const struct st_place *p = &w->r->walk->code.places.v[place];
	write_value(w, address_json(w, p->image, p->offset));
}

/* ---- windows ---- */

static void
write_items(struct writer *w, const struct st_fold_item *items, size_t n)
{
	fputc('[', w->out);
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputc(',', w->out);
		if (items[i].id < ST_FOLD_BODY && items[i].times == 1) {
			fprintf(w->out, "%" PRIu32, items[i].id);
			continue;
		}
		fprintf(w->out, "{\"times\":%" PRIu64 ",", items[i].times);
		if (items[i].id < ST_FOLD_BODY) {
			fprintf(w->out, "\"block\":%" PRIu32, items[i].id);
		} else {
			uint32_t members;
			const struct st_fold_item *body =
			        st_fold_members(&w->r->walk->fold, items[i].id, &members);
			fputs("\"path\":", w->out);
			write_items(w, body, members);
		}
		fputc('}', w->out);
	}
	fputc(']', w->out);
}

/* ---- gaps ---- */

static void
write_spans(struct writer *w, const char *name, const st_spans_of_code *spans)
{
	fprintf(w->out, ",\"%s\":[", name);
	for (size_t i = 0; i < spans->n; i++)
		fprintf(w->out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", spans->v[i].start,
		        spans->v[i].end - spans->v[i].start);
	fputc(']', w->out);
}

static void
write_fact(struct writer *w, const struct st_fact *f)
{
	fprintf(w->out, "{\"kind\":\"%s\",\"function\":", st_path_fact_name(f->kind));
	write_value(w, address_json(w, f->image, f->function->offset));
	write_spans(w, "executed", &f->ran);
	if (f->kind == ST_FACT_BETWEEN)
		write_spans(w, "executed_if_not_left", &f->stayed);
	fprintf(w->out,
	        ",\"exact\":%s,\"unknown\":{\"blocks\":%zu,\"calls\":%zu,\"indirect\":%zu}}",
	        f->exact ? "true" : "false", f->open, f->calls, f->indirect);
}

static void
write_gap(struct writer *w, const struct st_gap *g)
{
	fputs(",\"gap\":{\"from\":", w->out);
	path_json_write_place(w, g->from.place);
	fputs(",\"to\":", w->out);
	if (g->last)
		fputs("null", w->out);
	else
		path_json_write_place(w, g->to.place);
	fputs(",\"facts\":[", w->out);
	for (size_t i = 0; i < g->facts.n; i++) {
		if (i)
			fputc(',', w->out);
		write_fact(w, &g->facts.v[i]);
	}
	fputs("]}", w->out);
}

static void
write_window(struct writer *w, const struct st_path_thread *t, size_t i)
{
	const struct st_window *window = &t->windows.v[i];
	fprintf(w->out, "{\"blocks\":%" PRIu64 ",\"end\":\"%s\"", window->blocks,
	        st_path_end_name(window->end));
	if (!w->r->gaps) {
		fputs(",\"path\":", w->out);
		write_items(w, window->path.v, window->path.n);
	}
	if (window->end == ST_WINDOW_GAP)
		write_gap(w, &window->gap);
	fputc('}', w->out);
}

static void
path_json_write_thread(struct writer *w, const struct st_path_thread *t)
{
	const char *command = st_path_command(w->r, t);
	fprintf(w->out, "{\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",", t->pid, t->tid);
	if (command) {
		fputs("\"command\":", w->out);
		write_value(w, st_json_text(command));
		fputc(',', w->out);
	}
	fprintf(w->out, "\"from_start\":%s,\"windows\":[", t->late ? "false" : "true");
	for (size_t i = 0; i < t->windows.n; i++) {
		if (i)
			fputs(",\n", w->out);
		write_window(w, t, i);
	}
	fputs("]}", w->out);
}

static void
write_blocks(struct writer *w)
{
	const struct st_code *c = &w->r->walk->code;
	const char *before = "";
	fputs("],\"blocks\":[", w->out);
	for (size_t i = 0; i < c->places.n; i++) {
		if (!c->places.v[i].passed)
			continue;
		json_t *block = address_json(w, c->places.v[i].image, c->places.v[i].offset);
		json_object_set_new(block, "block", st_json_count(i));
		fputs(before, w->out);
		write_value(w, block);
		before = ",\n";
	}
}

st_status
st_path_json(const struct st_path_report *r, FILE *out)
{
	struct writer w = {.r = r, .out = out};
	const struct st_path_sums s = st_path_add_up(r->walk);
	fprintf(out,
	        "{\"strobe\":{\"version\":1,\"path\":1},\"windows\":%" PRIu64
	        ",\"blocks_executed\":%" PRIu64 ",\"gaps\":%" PRIu64 ",\"gaps_with_facts\":%" PRIu64
	        ",\"blocks_certain\":%" PRIu64 ",\"threads\":[",
	        s.windows, s.blocks, s.gaps, s.with_facts, s.ran);
	for (size_t i = 0; i < r->walk->threads.n; i++) {
		if (i)
			fputs(",\n", out);
		path_json_write_thread(&w, r->walk->threads.v[i]);
	}
	write_blocks(&w);
	fputs("]}\n", out);
	return w.failed ? -1 : 0;
}
