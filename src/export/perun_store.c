/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perun_store.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <zlib.h>

#include "base/text.h"
#include "export/perun.h"
#include "profile/output.h"
#include "profile/profile.h"

static st_status
perunout_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to write a store of Perun");
}

static st_status
perunout_mkdir(const char *path, struct st_error *e)
{
	if (!mkdir(path, 0777) || errno == EEXIST)
		return ST_OK;
	return st_fail(e, ST_EXIT_FAILED, "cannot create the folder %s: %s", path, strerror(errno));
}

char *
st_perun_out_create(const char *folder, struct st_error *e)
{
	char *objects = st_text_of("%s/objects", folder);
	if (!objects) {
		ST_IGNORE(perunout_no_memory(e));
		return NULL;
	}
	st_status status = perunout_mkdir(folder, e);
	if (!status && mkdir(objects, 0777))
		status = errno == EEXIST
		                 ? st_fail(e, ST_EXIT_FAILED,
		                           "%s is there already: name a folder without objects",
		                           objects)
		                 : st_fail(e, ST_EXIT_FAILED, "cannot create the folder %s: %s",
		                           objects, strerror(errno));
	if (!status)
		return objects;
	free(objects);
	return NULL;
}

/* Writes a file of the store, AB/CDEF... with the ending. */
static st_status
perunout_file(const char *objects, const char *name, const char *ending, const void *bytes,
              size_t n, struct st_error *e)
{
	char *folder = st_text_of("%s/%.2s", objects, name);
	char *path = folder ? st_text_of("%s/%s%s", folder, name + 2, ending) : NULL;
	if (!path || perunout_mkdir(folder, e)) {
		st_status status = path ? ST_FAILED : perunout_no_memory(e);
		free(folder);
		free(path);
		return status;
	}
	st_status status = st_output_bytes(path, bytes, n, e);
	free(folder);
	free(path);
	return status;
}

/* ---- objects ---- */

/* Writes head and JSON, compressed, under their SHA-1, which becomes `object`. */
static st_status
perunout_object(const char *objects, const char *type, const char *json, size_t n,
                char object[ST_SHA1_HEX + 1], struct st_error *e)
{
	char *head = st_text_of("profile %s %zu", type, n);
	size_t n_head = head ? strlen(head) + 1 : 0; /* the zero is a part of it */
	char *plain = head ? malloc(n_head + n) : NULL;
	uLongf packed = compressBound((uLong)(n_head + n));
	unsigned char *bytes = plain ? malloc(packed) : NULL;
	st_status status = ST_FAILED;
	if (bytes) {
		memcpy(plain, head, n_head);
		memcpy(plain + n_head, json, n);
		st_sha1_hex(head, n_head, json, n, object);
		if (compress(bytes, &packed, (const unsigned char *)plain, (uLong)(n_head + n)) ==
		    Z_OK)
			status = perunout_file(objects, object, "", bytes, packed, e);
		else
			status = perunout_no_memory(e);
	} else {
		status = perunout_no_memory(e);
	}
	free(head);
	free(plain);
	free(bytes);
	return status;
}

/* Makes a text usable as a part of the name of a file. */
static char *
perunout_word(const char *text)
{
	const char *slash = text ? strrchr(text, '/') : NULL;
	char *word = strdup(slash ? slash + 1 : text ? text : "");
	for (char *at = word; at && *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+",
		            *at))
			*at = '_';
	return word;
}

/* COLLECTOR-CMD-WORKLOAD-DATE.perf, in the order of Perun's default; malloc'ed. */
static char *
perunout_name(const struct st_perun_row *row)
{
	char date[32] = "", *parts[3] = {perunout_word(row->texts[ST_PERUN_COLLECTOR]),
	                                 perunout_word(row->texts[ST_PERUN_CMD]),
	                                 perunout_word(row->texts[ST_PERUN_WORKLOAD])};
	time_t at = (time_t)row->time;
	struct tm utc;
	if (gmtime_r(&at, &utc))
		strftime(date, sizeof date, "%Y-%m-%d-%H-%M-%S", &utc);
	char *name = parts[0] && parts[1] && parts[2]
	                     ? st_text_of("%s-%s-%s-%s.perf", parts[0], parts[1], parts[2], date)
	                     : NULL;
	for (size_t i = 0; i < 3; i++)
		free(parts[i]);
	return name;
}

static st_status
perunout_row(const struct st_profile *p, const char *object, struct st_perun_rows *rows,
             struct st_error *e)
{
	const char *workload = st_perun_workload(p);
	struct st_perun_row *row = ST_PUSH(&rows->v);
	if (!row)
		return perunout_no_memory(e);
	*row = (struct st_perun_row){.time = p->run.start_ns / 1000000000};
	memcpy(row->object, object, sizeof row->object);
	row->texts[ST_PERUN_TYPE] = strdup(st_perun_type(p));
	row->texts[ST_PERUN_CMD] = strdup(p->run.command.n ? p->run.command.v[0] : "");
	row->texts[ST_PERUN_WORKLOAD] = strdup(workload ? workload : "");
	row->texts[ST_PERUN_COLLECTOR] = strdup(p->run.tool ? p->run.tool : "");
	row->texts[ST_PERUN_POSTPROCESSORS] = strdup("");
	row->name = perunout_name(row);
	for (size_t i = 0; i < ST_PERUN_TEXTS; i++)
		if (!row->texts[i])
			return perunout_no_memory(e);
	return row->name ? ST_OK : perunout_no_memory(e);
}

st_status
st_perun_out_profile(const char *objects, const struct st_profile *p, struct st_perun_rows *rows,
                     bool *suits, struct st_error *e)
{
	char *json = NULL, object[ST_SHA1_HEX + 1];
	size_t n = 0;
	FILE *out = open_memstream(&json, &n);
	*suits = true;
	if (!out)
		return perunout_no_memory(e);
	*suits = p->measurements.series.n != 0;
	st_status status = st_export_perun(p, out, e);
	if (fclose(out) && !status)
		status = perunout_no_memory(e);
	if (!status)
		status = perunout_object(objects, st_perun_type(p), json, n, object, e);
	if (!status)
		status = perunout_row(p, object, rows, e);
	free(json);
	return status;
}

void
st_perun_rows_free(struct st_perun_rows *rows)
{
	for (size_t i = 0; i < rows->v.n; i++) {
		free(rows->v.v[i].name);
		for (size_t text = 0; text < ST_PERUN_TEXTS; text++)
			free(rows->v.v[i].texts[text]);
	}
	free(rows->v.v);
	*rows = (struct st_perun_rows){0};
}

/* ---- the index ---- */

enum { INDEX_VERSION = 2 };

static void
perunout_number(uint32_t v, FILE *out)
{
	for (int i = 0; i < 4; i++)
		putc((int)(v >> 8 * i & 255), out);
}

static int
perunout_digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void
perunout_entry(const struct st_perun_row *row, FILE *out)
{
	perunout_number((uint32_t)row->time, out);
	for (size_t i = 0; i < ST_SHA1_HEX; i += 2)
		putc(perunout_digit(row->object[i]) << 4 | perunout_digit(row->object[i + 1]), out);
	fwrite(row->name, 1, strlen(row->name) + 1, out);
	for (size_t i = 0; i < ST_PERUN_TEXTS; i++) {
		perunout_number((uint32_t)strlen(row->texts[i]), out);
		fputs(row->texts[i], out);
	}
}

st_status
st_perun_out_index(const char *objects, const char *commit, const struct st_perun_rows *rows,
                   struct st_error *e)
{
	char *bytes = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&bytes, &n);
	if (!out)
		return perunout_no_memory(e);
	fputs("pidx", out);
	perunout_number(INDEX_VERSION, out);
	perunout_number((uint32_t)rows->v.n, out);
	for (size_t i = 0; i < rows->v.n; i++)
		perunout_entry(&rows->v.v[i], out);
	st_status status = fclose(out) ? perunout_no_memory(e)
	                               : perunout_file(objects, commit, "", bytes, n, e);
	free(bytes);
	return status;
}

/* ---- changes ---- */

static void
perunout_word_of(const json_t *value, FILE *out)
{
	if (json_is_number(value)) {
		char text[32];
		int digits = 15;
		do /* the fewest digits that are read as the same number */
			snprintf(text, sizeof text, "%.*g", digits, json_number_value(value));
		while (strtod(text, NULL) != json_number_value(value) && ++digits <= 17);
		fprintf(out, " %s", text);
	} else if (json_is_string(value))
		fprintf(out, " %s", json_string_value(value));
}

static void
perunout_change(const json_t *change, FILE *out)
{
	static const char *const words[] = {"type",          "from",       "to",
	                                    "rate",          "confidence", "confidence_rate",
	                                    "relative_rate", "since"};
	const char *location = json_string_value(json_object_get(change, "location")),
	           *result = json_string_value(json_object_get(change, "result")),
	           *command = json_string_value(json_object_get(change, "command"));
	if (!location || !result)
		return;
	fprintf(out, "%s PerformanceChange.%s", location, result);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		perunout_word_of(json_object_get(change, words[i]), out);
	fprintf(out, " %s\n", command ? command : "");
}

st_status
st_perun_out_changes(const char *objects, const char *commit, const struct st_profile *p,
                     struct st_error *e)
{
	const char *json = NULL;
	for (size_t i = 0; i < p->extras.n; i++)
		if (!strcmp(p->extras.v[i].name, "perun.changes"))
			json = p->extras.v[i].json;
	json_t *changes = json ? json_loads(json, 0, NULL) : NULL;
	char *text = NULL;
	size_t n = 0, i;
	FILE *out = json_array_size(changes) ? open_memstream(&text, &n) : NULL;
	st_status status = ST_OK;
	if (out) {
		const json_t *change;
		json_array_foreach(changes, i, change) perunout_change(change, out);
		status = fclose(out) ? perunout_no_memory(e)
		                     : perunout_file(objects, commit, ".changes", text, n, e);
	}
	free(text);
	json_decref(changes);
	return status;
}
