/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/quantities.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "store/column.h"
#include "store/extract.h"

/* The table `sites` of strobe mem. */
static const char memory_table[] = "table_sites";

struct quantity_reader {
	struct st_store *s;
	struct st_pack pack;
	struct st_quantities *out;
};

void
st_value_range_add(struct st_value_range *to, const struct st_value_range *more)
{
	if (!more->n)
		return;
	if (!to->n || more->least < to->least)
		to->least = more->least;
	if (!to->n || more->most > to->most)
		to->most = more->most;
	to->sum += more->sum;
	to->n += more->n;
}

double
st_value_range_mean(const struct st_value_range *s)
{
	return s->n ? s->sum / (double)s->n : 0;
}

static st_status
quantity_damaged(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED,
	               "a stored profile is damaged: its tables do not fit together; strobe fsck "
	               "says what else is");
}

static size_t
quantity_rows(struct quantity_reader *r, const char *table)
{
	const struct st_pack_table *t = st_pack_table_named(&r->pack, table);
	return t ? t->rows : 0;
}

/* A column's cells; *found false: there is no such column. */
static st_status
quantity_column(struct quantity_reader *r, const char *table, const char *column,
                struct st_column_reader *out, bool *found, struct st_error *e)
{
	struct st_pack_column *c = st_pack_column_named(&r->pack, table, column);
	*found = c != NULL;
	if (!c || st_store_fetch(r->s, c, e))
		return c ? ST_FAILED : ST_OK;
	*out = st_column_read(c->bytes.v, c->bytes.n);
	return 0;
}

/* Numbers of a column, 0 where there is none. malloc'ed, NULL with *e. */
static double *
quantity_numbers(struct quantity_reader *r, const char *table, const char *column,
                 struct st_error *e)
{
	size_t n = quantity_rows(r, table);
	struct st_column_reader reader = {0};
	bool found;
	if (quantity_column(r, table, column, &reader, &found, e))
		return NULL;
	double *v = reallocarray(NULL, n + 1, sizeof *v);
	if (!v)
		st_cause(e, ST_EXIT_FAILED, "no memory left to compare profiles");
	for (size_t i = 0; i < n && v; i++) {
		struct st_cell cell;
		v[i] = 0;
		if (found && !st_column_next(&reader, &cell)) {
			st_cause(e, ST_EXIT_FAILED, "a stored profile is damaged: strobe fsck");
			free(v);
			return NULL;
		}
		if (found)
			v[i] = cell.kind == ST_CELL_REAL ? cell.real : (double)cell.number;
	}
	return v;
}

/* Texts of a column, NULL where there is none: n pointers into one block, which out keeps. */
static st_status
quantity_texts(struct quantity_reader *r, const char *table, const char *column, const char ***v,
               struct st_error *e)
{
	size_t n = quantity_rows(r, table);
	struct st_column_reader reader = {0};
	bool found;
	*v = NULL;
	if (quantity_column(r, table, column, &reader, &found, e))
		return -1;
	size_t room = found ? (size_t)(reader.cut.end - reader.cut.at) + n + 1 : 1, used = 0;
	char **block = ST_PUSH(&r->out->texts);
	*v = calloc(n + 1, sizeof **v);
	if (!block || !*v || !(*block = malloc(room)))
		return st_store_no_memory(e);
	for (size_t i = 0; i < n && found; i++) {
		struct st_cell cell;
		if (!st_column_next(&reader, &cell))
			return quantity_damaged(e);
		if (cell.kind != ST_CELL_TEXT || used + cell.n + 1 > room)
			continue;
		(*v)[i] = *block + used;
		memcpy(*block + used, cell.bytes, cell.n);
		used += cell.n;
		(*block)[used++] = '\0';
	}
	return 0;
}

/* Says which images are the program that was run. */
static st_status
quantity_program(struct quantity_reader *r, struct st_error *e)
{
	const size_t n = quantity_rows(r, "process");
	struct st_profile_process *v = calloc(n + 1, sizeof *v);
	const struct st_profile p = {.processes = {.v = v, .n = n}};
	const char **commands = NULL;
	double *pids = NULL, *states = NULL;
	int status =
	        v ? quantity_texts(r, "process", "command", &commands, e) : st_store_no_memory(e);
	if (!status && (!(pids = quantity_numbers(r, "process", "pid", e)) ||
	                !(states = quantity_numbers(r, "process", "state", e))))
		status = -1;
	for (size_t i = 0; i < n && !status; i++)
		v[i] = (struct st_profile_process){.pid = (int64_t)pids[i],
		                                   .state = (int64_t)states[i],
		                                   .command = commands[i]};
	for (size_t i = 0; i < r->out->n_images && n && !status; i++)
		r->out->images[i].is_program = st_profile_is_program(&p, r->out->images[i].path);
	free(commands);
	free(pids);
	free(states);
	free(v);
	return status ? ST_FAILED : ST_OK;
}

static st_status
quantity_images(struct quantity_reader *r, struct st_error *e)
{
	const char **paths = NULL, **ids = NULL;
	size_t n = quantity_rows(r, "image");
	int status = quantity_texts(r, "image", "path", &paths, e);
	if (!status)
		status = quantity_texts(r, "image", "build_id", &ids, e);
	if (!status && !(r->out->images = calloc(n + 1, sizeof *r->out->images)))
		status = st_store_no_memory(e);
	for (size_t i = 0; i < n && !status; i++)
		r->out->images[i] = (struct st_match_image){paths[i] ? paths[i] : "",
		                                            ids[i] ? ids[i] : "", false};
	r->out->n_images = status ? 0 : n;
	free(paths);
	free(ids);
	return status ? ST_FAILED : quantity_program(r, e);
}

static st_status
quantity_room(struct st_quantities *q, size_t n, struct st_error *e)
{
	q->items = calloc(q->same ? 1 : n + 1, sizeof *q->items);
	q->values = calloc(n + 1, sizeof *q->values);
	if (!q->items || !q->values)
		return st_store_no_memory(e);
	q->n = n;
	return 0;
}

static void
quantity_fill_functions(struct st_quantities *q, const char *const *names, const char *const *files,
                        const double *images, const double *offsets)
{
	for (size_t i = 0; i < q->n; i++) {
		struct st_match_function *f = &q->items[i];
		double image = images[i];
		f->image = image >= 1 && image <= (double)q->n_images ? (uint32_t)image - 1
		                                                      : ST_NO_IMAGE;
		f->offset = (uint64_t)offsets[i];
		f->file = files[i];
		const char *path = f->image == ST_NO_IMAGE ? NULL : q->images[f->image].path;
		f->name = names[i] && st_match_is_name(names[i], path, f->offset) ? names[i] : NULL;
	}
}

/* Of the columns as they are stored: nothing has to be read for it. */
static st_status
quantity_identity(struct quantity_reader *r, struct st_error *e)
{
	static const char *const columns[][2] = {{"image", "path"},     {"image", "build_id"},
	                                         {"function", "name"},  {"function", "file"},
	                                         {"function", "image"}, {"function", "offset"}};
	struct st_bytes all = {0};
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		const struct st_pack_column *c =
		        st_pack_column_named(&r->pack, columns[i][0], columns[i][1]);
		st_bytes_number(&all, c ? 1 + c->apart : 0);
		if (c && c->apart)
			st_bytes_add(&all, c->hash.v, sizeof c->hash.v);
		else if (c)
			st_bytes_piece(&all, c->bytes.v, c->bytes.n);
	}
	bool failed = all.failed;
	r->out->identity = st_sha256(all.v, all.n);
	st_bytes_free(&all);
	return failed ? st_store_no_memory(e) : ST_OK;
}

/* Offsets are exact as floating-point numbers: they are below 2^53. */
static st_status
quantity_name_functions(struct quantity_reader *r, struct st_error *e)
{
	const char **names = NULL, **files = NULL;
	double *images = NULL, *offsets = NULL;
	int status = quantity_images(r, e);
	if (!status)
		status = quantity_texts(r, "function", "name", &names, e);
	if (!status)
		status = quantity_texts(r, "function", "file", &files, e);
	if (!status && (!(images = quantity_numbers(r, "function", "image", e)) ||
	                !(offsets = quantity_numbers(r, "function", "offset", e))))
		status = -1;
	if (!status)
		quantity_fill_functions(r->out, names, files, images, offsets);
	free(names);
	free(files);
	free(images);
	free(offsets);
	return status ? ST_FAILED : ST_OK;
}

static st_status
quantity_functions(struct quantity_reader *r, const struct st_quantities *like, struct st_error *e)
{
	struct st_quantities *q = r->out;
	double *counts = NULL;
	q->exact = true;
	q->metric = "instructions";
	int status = quantity_identity(r, e);
	q->same = !status && like && like->exact &&
	          !memcmp(&q->identity, &like->identity, sizeof q->identity);
	if (!status && !(counts = quantity_numbers(r, "function", "instructions", e)))
		status = -1;
	if (!status)
		status = quantity_room(q, quantity_rows(r, "function"), e);
	for (size_t i = 0; i < q->n && !status; i++)
		q->values[i] = (struct st_value_range){1, counts[i], counts[i], counts[i]};
	if (!status && !q->same)
		status = quantity_name_functions(r, e);
	free(counts);
	return status ? ST_FAILED : ST_OK;
}

/* "wall", or "wall of parse". */
static const char *
quantity_series_name(struct st_quantities *q, const char *metric, const char *function)
{
	char **slot = ST_PUSH(&q->texts);
	if (slot && asprintf(slot, "%s%s%s", metric ? metric : "", function ? " of " : "",
	                     function ? function : "") < 0)
		*slot = NULL;
	return slot ? *slot : NULL;
}

static st_status
quantity_fill_series(struct quantity_reader *r, const char *const *metrics,
                     const char *const *functions, struct st_error *e)
{
	struct st_quantities *q = r->out;
	size_t rows = quantity_rows(r, "measurement");
	double *series = quantity_numbers(r, "measurement", "series", e), *values = NULL;
	if (series)
		values = quantity_numbers(r, "measurement", "value", e);
	int status = values ? 0 : -1;
	for (size_t i = 0; i < q->n && !status; i++) {
		q->items[i].image = ST_NO_IMAGE;
		q->items[i].name = quantity_series_name(q, metrics[i], functions[i]);
		if (!q->items[i].name)
			status = st_store_no_memory(e);
	}
	for (size_t i = 0; i < rows && !status; i++)
		if (series[i] >= 1 && series[i] <= (double)q->n)
			st_value_range_add(
			        &q->values[(size_t)series[i] - 1],
			        &(struct st_value_range){1, values[i], values[i], values[i]});
	free(series);
	free(values);
	return status ? ST_FAILED : ST_OK;
}

static st_status
quantity_series(struct quantity_reader *r, struct st_error *e)
{
	const char **metrics = NULL, **functions = NULL;
	int status = quantity_texts(r, "series", "metric", &metrics, e);
	if (!status)
		status = quantity_texts(r, "series", "function", &functions, e);
	if (!status)
		status = quantity_room(r->out, quantity_rows(r, "series"), e);
	if (!status)
		status = quantity_fill_series(r, metrics, functions, e);
	r->out->metric = "value";
	free(metrics);
	free(functions);
	return status ? ST_FAILED : ST_OK;
}

/* A function of strobe mem and the bytes that it allocated. */
struct quantity_site {
	const char *function;
	double bytes;
};

static int
quantity_by_function(const void *a, const void *b)
{
	return strcmp(((const struct quantity_site *)a)->function,
	              ((const struct quantity_site *)b)->function);
}

/* The sum over the lines of each function. */
static void
quantity_fill_sites(struct st_quantities *q, struct quantity_site *sites, size_t n)
{
	qsort(sites, n, sizeof *sites, quantity_by_function);
	q->n = 0;
	for (size_t i = 0; i < n; i++) {
		double bytes = sites[i].bytes;
		if (q->n && !strcmp(q->items[q->n - 1].name, sites[i].function))
			bytes += q->values[--q->n].sum;
		q->items[q->n] =
		        (struct st_match_function){.name = sites[i].function, .image = ST_NO_IMAGE};
		q->values[q->n++] = (struct st_value_range){1, bytes, bytes, bytes};
	}
}

/* The bytes that functions allocated, of a profile of strobe mem. */
static st_status
quantity_memory(struct quantity_reader *r, struct st_error *e)
{
	struct st_quantities *q = r->out;
	size_t n = quantity_rows(r, memory_table);
	const char **functions = NULL;
	double *bytes = NULL;
	struct quantity_site *sites = calloc(n + 1, sizeof *sites);
	st_status status = sites ? ST_OK : st_store_no_memory(e);
	q->exact = true;
	q->metric = "bytes allocated";
	if (!status)
		status = quantity_texts(r, memory_table, "function", &functions, e);
	if (!status && !(bytes = quantity_numbers(r, memory_table, "bytes", e)))
		status = ST_FAILED;
	if (!status)
		status = quantity_room(q, n, e);
	for (size_t i = 0; i < n && !status; i++)
		sites[i] = (struct quantity_site){functions[i] ? functions[i] : "", bytes[i]};
	if (!status)
		quantity_fill_sites(q, sites, n);
	free(functions);
	free(bytes);
	free(sites);
	return status;
}

/* *counted: were instructions of functions counted? They are preferred to the series of totals that
 * the profile of a job has as well. */
static st_status
quantity_is_counted(struct quantity_reader *r, bool *counted, struct st_error *e)
{
	size_t n = quantity_rows(r, "function");
	*counted = false;
	double *instructions = n ? quantity_numbers(r, "function", "instructions", e) : NULL;
	if (n && !instructions)
		return ST_FAILED;
	for (size_t i = 0; i < n && !*counted; i++)
		*counted = instructions[i] > 0;
	free(instructions);
	return ST_OK;
}

st_status
st_quantities_read(struct st_store *s, const struct st_stored *p, const struct st_quantities *like,
                   struct st_quantities *out, struct st_error *e)
{
	struct quantity_reader r = {.s = s, .out = out};
	*out = (struct st_quantities){0};
	int status = st_store_manifest(s, p, &r.pack, e);
	bool counted = false;
	bool memory = !status && quantity_rows(&r, memory_table);
	if (!status && quantity_rows(&r, "series"))
		status = quantity_is_counted(&r, &counted, e);
	if (memory && !status)
		status = quantity_memory(&r, e);
	else if (!status && quantity_rows(&r, "series") && !counted)
		status = quantity_series(&r, e);
	else if (!status && quantity_rows(&r, "function"))
		status = quantity_functions(&r, like, e);
	st_pack_free(&r.pack);
	return status ? ST_FAILED : ST_OK;
}

struct st_match_side
st_quantities_side(const struct st_quantities *q)
{
	return (struct st_match_side){q->images, q->n_images, q->items, q->n};
}

void
st_quantities_free(struct st_quantities *q)
{
	for (size_t i = 0; i < q->texts.n; i++)
		free(q->texts.v[i]);
	free(q->texts.v);
	free(q->images);
	free(q->items);
	free(q->values);
	*q = (struct st_quantities){0};
}
