/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text around the lines that ran, for the page: the reader of a page rarely has the files. */
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/page.h"
#include "report/source.h"

enum {
	CONTEXT = 3,         /* lines around those that ran */
	MAX_GAP = 12,        /* longer stretches without code are left out */
	MOST_BYTES = 8 << 20 /* of all files */
};

struct place {
	const char *file;
	uint32_t line;
};

static int
by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->file, y->file);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* malloc'ed; NULL: no memory. */
static struct place *
places_of(const json_t *lines, const json_t *more)
{
	size_t n_lines = json_array_size(lines), n = n_lines + json_array_size(more);
	struct place *places = calloc(n ? n : 1, sizeof *places);
	for (size_t i = 0; places && i < n; i++) {
		const json_t *line =
		        i < n_lines ? json_array_get(lines, i) : json_array_get(more, i - n_lines);
		places[i].file = json_string_value(json_object_get(line, "file"));
		places[i].line = (uint32_t)json_integer_value(json_object_get(line, "line"));
	}
	if (places)
		qsort(places, n, sizeof *places, by_place);
	return places;
}

/* A list of a line's number and the texts from it to the last. */
static json_t *
stretch(const struct st_source *s, uint32_t first, uint32_t last, size_t *bytes)
{
	json_t *out = json_array();
	int bad = json_array_append_new(out, json_integer(first));
	for (uint32_t l = first; l <= last && !bad; l++) {
		*bytes += strlen(s->lines.v[l - 1]);
		bad = json_array_append_new(out, st_json_text(s->lines.v[l - 1]));
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

/* Those of one file, in order. */
static json_t *
stretches(const struct place *places, size_t n, enum st_source_for who, size_t *bytes,
          size_t *kept_back)
{
	struct st_source s;
	json_t *out = json_array();
	int bad = 0;
	*kept_back += !st_source_read(&s, places[0].file, who);
	for (size_t i = 0, next; i < n && !bad && s.lines.n; i = next) {
		for (next = i + 1; next < n; next++)
			if (places[next].line > places[next - 1].line + MAX_GAP)
				break;
		uint32_t first = places[i].line > CONTEXT ? places[i].line - CONTEXT : 1;
		uint32_t last = places[next - 1].line + CONTEXT;
		last = last < s.lines.n ? last : (uint32_t)s.lines.n;
		if (first <= last)
			bad = json_array_append_new(out, stretch(&s, first, last, bytes));
	}
	st_source_free(&s);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

json_t *
st_page_sources(const json_t *result, const json_t *more, bool all, size_t *kept_back)
{
	enum st_source_for who = all ? ST_SOURCE_FOR_READER : ST_SOURCE_FOR_ANYBODY;
	const json_t *lines = json_object_get(result, "lines");
	size_t n = json_array_size(lines) + json_array_size(more), bytes = 0;
	struct place *places = places_of(lines, more);
	json_t *out = json_object();
	int bad = !places || !out;
	*kept_back = 0;
	for (size_t i = 0, next; i < n && !bad && bytes < MOST_BYTES; i = next) {
		for (next = i + 1; next < n; next++)
			if (strcmp(places[next].file, places[i].file))
				break;
		json_t *texts = stretches(places + i, next - i, who, &bytes, kept_back);
		if (texts && !json_array_size(texts))
			json_decref(texts);
		else
			bad = json_object_set_new(out, places[i].file, texts);
	}
	free(places);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}
