/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles into the store. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "profile/profile.h"
#include "store/object.h"
#include "store/pack.h"
#include "store/patches.h"
#include "store/store.h"
#include "store/traits.h"

/* A profile on its way into the store. */
struct adding {
	struct st_store *s;
	struct st_addition *file;
	struct st_pack pack;
	struct st_traits traits;
	struct st_bytes manifest;
	struct stat st;
	int64_t start_ns, wall_ns;
	int64_t version, configuration, machine;
	bool dirty;
	struct st_pack base; /* the manifest of the profile of this configuration before it */
	ST_VEC(int64_t) parts;
};

static void
adding_free(struct adding *a)
{
	st_pack_free(&a->pack);
	st_pack_free(&a->base);
	st_traits_free(&a->traits);
	st_bytes_free(&a->manifest);
	free(a->parts.v);
}

/* The file is read twice: once with all checks that a reader of profiles makes, once table by
 * table. */
static st_status
adding_read(struct adding *a, struct st_error *e)
{
	const char *path = a->file->profile ? a->file->profile : a->file->file;
	struct st_profile *p = st_profile_load(path, e);
	if (!p)
		return -1;
	int status = st_traits_of(&a->traits, p, a->file->workload) ? st_store_no_memory(e) : 0;
	a->start_ns = p->run.start_ns;
	a->wall_ns = p->run.wall_ns;
	st_profile_free(p);
	if (!status)
		status = st_pack_read(&a->pack, path, e);
	if (!status && stat(a->file->file, &a->st))
		status = st_fail(e, ST_EXIT_FAILED, "cannot read %s: it has just been removed",
		                 a->file->file);
	if (status)
		return -1;
	st_pack_manifest(&a->pack, &a->manifest);
	if (a->manifest.failed)
		return st_store_no_memory(e);
	a->file->hash = st_sha256(a->manifest.v, a->manifest.n);
	return 0;
}

/* The row of a table that a hash names; 0: there is none. */
static st_status
adding_row_of_hash(struct st_store *s, const char *sql, const struct st_hash *hash, int64_t *row,
                   struct st_error *e)
{
	struct st_query *rows = NULL;
	*row = 0;
	if (st_store_query(s, &rows, sql, e))
		return -1;
	st_query_put_bytes(rows, 1, hash->v, sizeof hash->v);
	int step = st_query_step(rows, e);
	if (step > 0)
		*row = st_query_number(rows, 0);
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* Inserts a hash and texts; *row receives the row. */
static st_status
adding_insert_texts(struct st_store *s, const char *sql, const struct st_hash *hash,
                    const char *const *texts, size_t n, int64_t *row, struct st_error *e)
{
	struct st_query *insert = NULL;
	if (st_store_query(s, &insert, sql, e))
		return -1;
	st_query_put_bytes(insert, 1, hash->v, sizeof hash->v);
	for (size_t i = 0; i < n; i++)
		st_query_put_text(insert, (int)i + 2, texts[i]);
	int step = st_query_step(insert, e);
	*row = step > 0 ? st_query_number(insert, 0) : 0;
	st_query_end(insert);
	return step < 0 ? ST_FAILED : ST_OK;
}

static st_status
adding_configuration(struct adding *a, struct st_error *e)
{
	const struct st_traits *t = &a->traits;
	const char *const texts[] = {t->collector, t->command, t->workload, t->parameters};
	struct st_bytes all = {0};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		st_bytes_piece(&all, texts[i], strlen(texts[i]));
	struct st_hash hash = st_sha256(all.v, all.n);
	bool failed = all.failed;
	st_bytes_free(&all);
	if (failed)
		return st_store_no_memory(e);
	if (adding_row_of_hash(a->s, "SELECT id FROM configuration WHERE hash = ?", &hash,
	                       &a->configuration, e))
		return -1;
	if (a->configuration)
		return 0;
	return adding_insert_texts(a->s,
	                           "INSERT INTO configuration(hash, collector, command, workload, "
	                           "parameters) VALUES(?,?,?,?,?) RETURNING id",
	                           &hash, texts, sizeof texts / sizeof *texts, &a->configuration,
	                           e);
}

static st_status
adding_machine(struct adding *a, struct st_error *e)
{
	const char *const fields = a->traits.machine;
	struct st_hash hash = st_sha256(fields, strlen(fields));
	if (adding_row_of_hash(a->s, "SELECT id FROM machine WHERE hash = ?", &hash, &a->machine,
	                       e))
		return -1;
	if (a->machine)
		return 0;
	return adding_insert_texts(a->s,
	                           "INSERT INTO machine(hash, fields) VALUES(?,?) RETURNING id",
	                           &hash, &fields, 1, &a->machine, e);
}

/* The manifest of the latest profile of this configuration: its columns are the likely bases. One
 * that cannot be read is no hindrance. */
static st_status
adding_find_base(struct adding *a, int64_t *manifest, struct st_error *e)
{
	struct st_query *rows = NULL;
	struct st_bytes bytes = {0};
	*manifest = 0;
	if (st_store_query(a->s, &rows,
	                   "SELECT manifest FROM profile WHERE configuration = ? ORDER BY id DESC "
	                   "LIMIT 1",
	                   e))
		return -1;
	st_query_put_number(rows, 1, a->configuration);
	int step = st_query_step(rows, e);
	if (step > 0)
		*manifest = st_query_number(rows, 0);
	st_query_end(rows);
	struct st_error unreadable;
	if (*manifest && !st_object_get_row(a->s, *manifest, &bytes, &unreadable) &&
	    !st_pack_of_manifest(&a->base, bytes.v, bytes.n))
		st_pack_free(&a->base);
	st_bytes_free(&bytes);
	return step < 0 ? ST_FAILED : ST_OK;
}

static st_status
adding_push_part(struct adding *a, int64_t row, struct st_error *e)
{
	int64_t *part = ST_PUSH(&a->parts);
	if (part)
		*part = row;
	return part ? 0 : st_store_no_memory(e);
}

static st_status
adding_put_column(struct adding *a, const char *table, const struct st_pack_column *c,
                  struct st_error *e)
{
	int64_t row, base = 0;
	const struct st_pack_column *like = st_pack_column_named(&a->base, table, c->name);
	if (like && like->apart && st_object_row(a->s, &like->hash, &base, e))
		return -1;
	if (st_object_put(a->s, &c->hash, &c->bytes, base, &row, &a->file->bytes, e))
		return -1;
	return adding_push_part(a, row, e);
}

static st_status
adding_put_columns(struct adding *a, struct st_error *e)
{
	for (size_t i = 0; i < a->pack.tables.n; i++) {
		const struct st_pack_table *t = &a->pack.tables.v[i];
		for (size_t j = 0; j < t->columns.n; j++)
			if (t->columns.v[j].apart &&
			    adding_put_column(a, t->name, &t->columns.v[j], e))
				return -1;
	}
	return 0;
}

static st_status
adding_insert_parts(struct adding *a, int64_t profile, struct st_error *e)
{
	struct st_query *insert = NULL;
	if (st_store_query(a->s, &insert, "INSERT INTO part VALUES(?,?) ON CONFLICT DO NOTHING", e))
		return -1;
	int status = 0;
	for (size_t i = 0; i < a->parts.n && !status; i++) {
		st_query_put_number(insert, 1, profile);
		st_query_put_number(insert, 2, a->parts.v[i]);
		status = st_query_step(insert, e) < 0 ? -1 : 0;
		st_query_again(insert);
	}
	st_query_end(insert);
	return status ? ST_FAILED : ST_OK;
}

static int64_t
adding_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static st_status
adding_insert_profile(struct adding *a, int64_t manifest, int64_t *row, struct st_error *e)
{
	struct st_query *insert = NULL;
	const int64_t numbers[] = {
	        manifest,
	        a->version,
	        a->configuration,
	        a->machine,
	        a->dirty,
	        adding_now_ns(),
	        a->start_ns,
	        a->wall_ns,
	        (int64_t)a->st.st_dev,
	        (int64_t)a->st.st_ino,
	        a->st.st_size,
	        (int64_t)a->st.st_mtim.tv_sec * 1000000000 + a->st.st_mtim.tv_nsec,
	};
	if (st_store_query(a->s, &insert,
	                   "INSERT INTO profile(hash, file, manifest, version, configuration, "
	                   "machine, dirty, added_ns, start_ns, wall_ns, device, inode, file_size, "
	                   "file_ns) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING id",
	                   e))
		return -1;
	st_query_put_bytes(insert, 1, a->file->hash.v, ST_HASH_BYTES);
	st_query_put_text(insert, 2, a->file->file);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		st_query_put_number(insert, (int)i + 3, numbers[i]);
	int step = st_query_step(insert, e);
	*row = step > 0 ? st_query_number(insert, 0) : 0;
	st_query_end(insert);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* The same profile is there once, at the version where it was added first. */
static st_status
adding_check_known(struct adding *a, const char *rev, const struct st_version *v,
                   struct st_error *e)
{
	struct st_stored there;
	char hex[ST_HASH_HEX + 1];
	st_hash_hex(&a->file->hash, hex);
	if (st_store_find(a->s, hex, &there, &a->file->known, e))
		return -1;
	if (!a->file->known)
		return 0;
	int status = 0;
	snprintf(a->file->of, sizeof a->file->of, "%s", there.of);
	if (rev && strcmp(there.of, v->name) != 0)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "%s is stored already, of %s %.10s: remove it there with strobe "
		                 "rm %.10s to add it elsewhere",
		                 a->file->file, a->s->vcs->kind->title, there.of, hex);
	st_stored_free(&there);
	return status ? ST_FAILED : ST_OK;
}

static st_status
adding_put(struct adding *a, struct st_error *e)
{
	int64_t base, manifest, row;
	if (adding_configuration(a, e) || adding_machine(a, e) || adding_find_base(a, &base, e) ||
	    adding_put_columns(a, e) ||
	    st_object_put(a->s, &a->file->hash, &a->manifest, base, &manifest, &a->file->bytes, e))
		return -1;
	if (adding_push_part(a, manifest, e) || adding_insert_profile(a, manifest, &row, e))
		return -1;
	return adding_insert_parts(a, row, e);
}

/* The version's row, which is made when it has none yet. */
static st_status
add_version(struct st_store *s, const struct st_version *v, int64_t *row, struct st_error *e)
{
	char *patch = NULL;
	struct st_query *insert = NULL;
	if (st_patch_of(s, v->name, &patch, e))
		return -1;
	int status = st_store_query(s, &insert,
	                            "INSERT INTO version(name, tree, patch, subject, time) "
	                            "VALUES(?,?,?,?,?) ON CONFLICT(name) DO UPDATE SET patch = "
	                            "coalesce(version.patch, excluded.patch) RETURNING id",
	                            e);
	if (!status) {
		st_query_put_text(insert, 1, v->name);
		st_query_put_text(insert, 2, v->tree);
		st_query_put_text(insert, 3, patch);
		st_query_put_text(insert, 4, v->subject);
		st_query_put_number(insert, 5, v->time);
		status = st_query_step(insert, e) > 0 ? 0 : -1;
	}
	if (!status)
		*row = st_query_number(insert, 0);
	st_query_end(insert);
	free(patch);
	return status ? ST_FAILED : ST_OK;
}

/* A counter begins its next version with an addition that names none. */
static st_status
add_next_of_counter(struct st_store *s, struct st_version *v, struct st_error *e)
{
	char number[32];
	int64_t latest = 0;
	if (!s->vcs->kind->head(s->vcs, v, e))
		latest = strtoll(v->name, NULL, 10);
	else if (!s->vcs->kind->empty(s->vcs))
		return ST_FAILED;
	st_version_free(v);
	snprintf(number, sizeof number, "%lld", (long long)latest + 1);
	*v = (struct st_version){.name = strdup(number), .subject = strdup("")};
	v->time = adding_now_ns() / 1000000000;
	return v->name && v->subject ? 0 : st_store_no_memory(e);
}

static st_status
add_find_version(struct st_store *s, const char *rev, struct st_version *v, struct st_error *e)
{
	if (rev)
		return st_store_version(s, rev, v, e);
	if (!strcmp(s->vcs->kind->name, "counter"))
		return add_next_of_counter(s, v, e);
	return s->vcs->kind->head(s->vcs, v, e);
}

/* Nothing is written, not even the version, when all of them are there. A file that is named twice
 * is known the second time. */
static st_status
add_all(struct st_store *s, struct adding *all, size_t n, const char *rev,
        struct st_version *version, struct st_error *e)
{
	int64_t row = 0;
	bool dirty = !rev && s->vcs->kind->dirty(s->vcs);
	if (add_find_version(s, rev, version, e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (adding_check_known(&all[i], rev, version, e))
			return -1;
		if (all[i].file->known)
			continue;
		if (!row && add_version(s, version, &row, e))
			return -1;
		all[i].version = row;
		all[i].dirty = dirty;
		snprintf(all[i].file->of, sizeof all[i].file->of, "%s", version->name);
		if (adding_put(&all[i], e))
			return -1;
	}
	return 0;
}

st_status
st_store_add(struct st_store *s, struct st_addition *files, size_t n, const char *rev,
             struct st_version *version, struct st_error *e)
{
	struct adding *all = calloc(n, sizeof *all);
	*version = (struct st_version){0};
	int status = all ? 0 : st_store_no_memory(e);
	for (size_t i = 0; i < n && !status; i++) {
		files[i].known = false;
		files[i].bytes = 0;
		all[i].s = s;
		all[i].file = &files[i];
		status = adding_read(&all[i], e);
	}
	if (!status && !(status = st_store_begin(s, e))) {
		status = add_all(s, all, n, rev, version, e);
		if (!status)
			status = st_store_commit(s, e);
		if (status)
			st_store_rollback(s);
	}
	for (size_t i = 0; i < n && all; i++)
		adding_free(&all[i]);
	free(all);
	return status ? ST_FAILED : ST_OK;
}
