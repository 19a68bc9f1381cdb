/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coverage/contextlog_known.h"

#include <stdlib.h>
#include <string.h>

#include "coverage/codelog_db.h"
#include "wire/results/header.h"

static const char schema[] = "CREATE TABLE IF NOT EXISTS quiet(context INTEGER PRIMARY KEY,"
                             " runs INTEGER NOT NULL, activations INTEGER NOT NULL);";

st_status
st_contextlog_make_quiet(struct st_codelog *log, struct st_error *e)
{
	return st_codelog_execute(log, schema, e);
}

/* ---- the log's tree ---- */

enum { GROWN = 1, COMPLETE = 2, BELOW = 4, WANTED = 8 };

/* By number, from 1 on. */
struct tree {
	struct st_codelog *log;
	uint32_t n;
	uint32_t *parent, *function; /* parent: less than the number */
	unsigned char *flags;
};

static void
free_tree(struct tree *t)
{
	free(t->parent);
	free(t->function);
	free(t->flags);
}

/* A row of context: id, parent, function, run. False: it cannot be true. */
static bool
read_context_known(struct tree *t, sqlite3_stmt *s, uint32_t i)
{
	int64_t parent = sqlite3_column_int64(s, 1), function = sqlite3_column_int64(s, 2);
	if (i > t->n || sqlite3_column_int64(s, 0) != i || parent < 0 || parent >= i ||
	    function <= 0 || function > UINT32_MAX)
		return false;
	t->parent[i] = (uint32_t)parent;
	t->function[i] = (uint32_t)function;
	t->flags[i] = sqlite3_column_int64(s, 3) == t->log->run ? GROWN : 0;
	return true;
}

static st_status
read_contexts_known(struct tree *t, struct st_error *e)
{
	sqlite3_stmt *s = st_codelog_prepare(
	        t->log, "SELECT id, parent, function, run FROM context ORDER BY id", e);
	uint32_t i = 0;
	int status;
	if (!s)
		return -1;
	while ((status = sqlite3_step(s)) == SQLITE_ROW)
		if (!read_context_known(t, s, ++i)) {
			status = SQLITE_CORRUPT;
			break;
		}
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? 0 : st_codelog_fail(t->log, status, e);
}

/* The caller frees, also on failure. */
static st_status
read_tree(struct st_codelog *log, struct tree *t, struct st_error *e)
{
	uint64_t n;
	*t = (struct tree){.log = log};
	if (st_contextlog_count(log, &n, e))
		return -1;
	if (n >= UINT32_MAX / 2)
		return st_fail(e, ST_EXIT_FAILED, "%s has too many contexts", log->path);
	t->n = (uint32_t)n;
	t->parent = calloc(n + 1, sizeof *t->parent);
	t->function = calloc(n + 1, sizeof *t->function);
	t->flags = calloc(n + 1, sizeof *t->flags);
	if (!t->parent || !t->function || !t->flags)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	return read_contexts_known(t, e);
}

/* ---- a run has ended ---- */

/* Executes a statement about a context. */
static st_status
change(struct st_codelog *log, sqlite3_stmt *s, uint32_t context, struct st_error *e)
{
	sqlite3_bind_int64(s, 1, context);
	int status = sqlite3_step(s);
	sqlite3_reset(s);
	return status == SQLITE_DONE ? 0 : st_codelog_fail(log, status, e);
}

static st_status
note_all(struct tree *t, const uint64_t *entered, size_t n, sqlite3_stmt *grown,
         sqlite3_stmt *quiet, struct st_error *e)
{
	for (uint32_t i = t->n; i > 0; i--) {
		bool grows = t->flags[i] & GROWN;
		t->flags[t->parent[i]] |= t->flags[i] & GROWN;
		uint64_t times = i <= n ? entered[i] : 0;
		sqlite3_bind_int64(quiet, 2, times < INT32_MAX ? (int64_t)times : INT32_MAX);
		if (grows ? change(t->log, grown, i, e) : times && change(t->log, quiet, i, e))
			return -1;
	}
	return 0;
}

st_status
st_contextlog_note_quiet(struct st_codelog *log, const uint64_t *entered, size_t n,
                         struct st_error *e)
{
	struct tree t;
	sqlite3_stmt *grown = NULL, *quiet = NULL;
	int status = read_tree(log, &t, e);
	if (!status) {
		grown = st_codelog_prepare(log, "DELETE FROM quiet WHERE context = ?", e);
		quiet = st_codelog_prepare(
		        log,
		        "INSERT INTO quiet VALUES(?, 1, ?) ON CONFLICT DO UPDATE"
		        " SET runs = min(runs, 1000000) + 1,"
		        " activations = min(activations, 1000000000) + excluded.activations",
		        e);
		status = grown && quiet ? note_all(&t, entered, n, grown, quiet, e) : -1;
	}
	sqlite3_finalize(grown);
	sqlite3_finalize(quiet);
	free_tree(&t);
	return status;
}

/* ---- a run begins ---- */

struct known_function {
	int64_t image;
	uint64_t offset;
	uint32_t number;
};

struct known_image {
	char *build_id;
	int64_t number;
};

struct st_contextlog_known {
	struct known_image *images;
	size_t n_images;
	struct known_function *functions; /* by image and offset */
	size_t n_functions, n_complete;
	struct st_known_context *slots;
	struct st_known_results results;
};

static int
compare_functions(const void *a, const void *b)
{
	const struct known_function *f = a, *g = b;
	if (f->image != g->image)
		return f->image < g->image ? -1 : 1;
	return f->offset == g->offset ? 0 : f->offset < g->offset ? -1 : 1;
}

static void
add_image_known(void *arg, int64_t image, const char *build_id, const char *path)
{
	struct st_contextlog_known *k = arg;
	struct known_image *more = reallocarray(k->images, k->n_images + 1, sizeof *more);
	char *copy = more ? strdup(build_id) : NULL;
	(void)path;
	if (more)
		k->images = more;
	if (copy) /* else it is not known, which does no harm */
		k->images[k->n_images++] = (struct known_image){copy, image};
}

static st_status
read_functions(struct st_contextlog_known *k, struct st_codelog *log, struct st_error *e)
{
	int status;
	int64_t n = st_codelog_number(log, "SELECT count(*) FROM function", &status);
	if (status != SQLITE_OK)
		return st_codelog_fail(log, status, e);
	k->functions = calloc((size_t)n + 1, sizeof *k->functions);
	sqlite3_stmt *s = st_codelog_prepare(log, "SELECT id, image, offset FROM function", e);
	if (!k->functions || !s) {
		sqlite3_finalize(s);
		return k->functions ? -1 : st_fail(e, ST_EXIT_FAILED, "out of memory");
	}
	while ((status = sqlite3_step(s)) == SQLITE_ROW && k->n_functions < (size_t)n)
		k->functions[k->n_functions++] =
		        (struct known_function){.image = sqlite3_column_int64(s, 1),
		                                .offset = (uint64_t)sqlite3_column_int64(s, 2),
		                                .number = (uint32_t)sqlite3_column_int64(s, 0)};
	sqlite3_finalize(s);
	if (status != SQLITE_DONE)
		return st_codelog_fail(log, status == SQLITE_ROW ? SQLITE_CORRUPT : status, e);
	qsort(k->functions, k->n_functions, sizeof *k->functions, compare_functions);
	return 0;
}

static st_status
read_complete(struct tree *t, struct st_error *e)
{
	sqlite3_stmt *s = st_codelog_prepare(
	        t->log, "SELECT context FROM quiet WHERE runs >= ? AND activations >= ?", e);
	int status;
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, ST_QUIET_RUNS);
	sqlite3_bind_int64(s, 2, ST_QUIET_ACTIVATIONS);
	while ((status = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t i = sqlite3_column_int64(s, 0);
		if (i > 0 && i <= t->n)
			t->flags[i] |= COMPLETE;
	}
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? 0 : st_codelog_fail(t->log, status, e);
}

/* The complete ones that are not below others, and all above them. Returns how many there are. */
static uint32_t
mark_wanted(struct tree *t, size_t *n_complete)
{
	uint32_t n = 0;
	for (uint32_t i = 1; i <= t->n; i++)
		if (t->parent[i] && t->flags[t->parent[i]] & (COMPLETE | BELOW))
			t->flags[i] |= BELOW;
	for (uint32_t i = t->n; i > 0; i--) {
		bool first = t->flags[i] & COMPLETE && !(t->flags[i] & BELOW);
		*n_complete += first;
		if (!first && !(t->flags[i] & WANTED))
			continue;
		t->flags[i] |= WANTED;
		t->flags[t->parent[i]] |= WANTED;
		n++;
	}
	return n;
}

static void
add_slot_known(struct st_contextlog_known *k, const struct tree *t, uint32_t i)
{
	uint32_t slots = k->results.slots, at = st_known_hash(t->parent[i], t->function[i], slots);
	while (k->slots[at].function)
		at = (at + 1) & (slots - 1);
	k->slots[at] = (struct st_known_context){.parent = t->parent[i],
	                                         .function = t->function[i],
	                                         .context = i,
	                                         .complete = (t->flags[i] & COMPLETE) != 0};
}

static st_status
make_slots(struct st_contextlog_known *k, struct tree *t, struct st_error *e)
{
	uint32_t n = mark_wanted(t, &k->n_complete), slots = 64;
	while (slots < 2 * n)
		slots *= 2;
	if (!n || slots > ST_MAX_KNOWN) {
		k->n_complete = 0;
		return 0;
	}
	k->slots = calloc(slots, sizeof *k->slots);
	if (!k->slots)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	k->results = (struct st_known_results){.slots = slots, .phase = (uint32_t)t->log->run};
	for (uint32_t i = 1; i <= t->n; i++)
		if (t->flags[i] & WANTED)
			add_slot_known(k, t, i);
	return 0;
}

struct st_contextlog_known *
st_contextlog_known_read(struct st_codelog *log, struct st_error *e)
{
	struct st_contextlog_known *k = calloc(1, sizeof *k);
	struct tree t = {.log = log};
	if (!k) {
		st_cause(e, ST_EXIT_FAILED, "out of memory");
		return NULL;
	}
	/* One state of it, also when another run ends meanwhile. */
	int status = st_codelog_execute(log, "BEGIN", e) || read_tree(log, &t, e) ||
	             read_complete(&t, e) || make_slots(k, &t, e) ||
	             (k->slots &&
	              (read_functions(k, log, e) || st_codelog_images(log, add_image_known, k, e)));
	free_tree(&t);
	if (status)
		st_codelog_undo_blocks(log);
	else
		status = st_codelog_execute(log, "COMMIT", e);
	if (!status)
		return k;
	st_contextlog_known_free(k);
	return NULL;
}

void
st_contextlog_known_free(struct st_contextlog_known *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->n_images; i++)
		free(k->images[i].build_id);
	free(k->images);
	free(k->functions);
	free(k->slots);
	free(k);
}

size_t
st_contextlog_known_complete(const struct st_contextlog_known *k)
{
	return k->n_complete;
}

int64_t
st_contextlog_known_image(const struct st_contextlog_known *k, const char *build_id)
{
	for (size_t i = 0; i < k->n_images; i++)
		if (!strcmp(k->images[i].build_id, build_id))
			return k->images[i].number;
	return 0;
}

uint32_t
st_contextlog_known_function(const struct st_contextlog_known *k, int64_t image, uint64_t offset)
{
	const struct known_function key = {.image = image, .offset = offset};
	const struct known_function *f = image > 0 ? bsearch(&key, k->functions, k->n_functions,
	                                                     sizeof key, compare_functions)
	                                           : NULL;
	return f ? f->number : 0;
}

void
st_contextlog_known_tell(const struct st_contextlog_known *k, struct st_results_header *h)
{
	memcpy((char *)h + h->layout.off_known, k->slots, k->results.slots * sizeof *k->slots);
	h->known = k->results;
}
