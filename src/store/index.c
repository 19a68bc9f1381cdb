/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The database of a store: making, opening, asking. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/text.h"
#include "store/config.h"
#include "store/store.h"

st_status
st_store_no_memory(struct st_error *e)
{
	return st_database_no_memory(e);
}

st_status
st_store_run(struct st_store *s, const char *sql, struct st_error *e)
{
	return s->database->kind->run(s->database, sql, e);
}

st_status
st_store_query(struct st_store *s, struct st_query **out, const char *sql, struct st_error *e)
{
	return st_database_query(s->database, out, sql, e);
}

st_status
st_store_begin(struct st_store *s, struct st_error *e)
{
	st_status status = st_store_run(s, s->database->kind->begin, e);
	/* PostgreSQL stays in a failed transaction when it does not get the lock. */
	if (status)
		st_store_rollback(s);
	return status;
}

st_status
st_store_commit(struct st_store *s, struct st_error *e)
{
	return st_store_run(s, "COMMIT", e);
}

void
st_store_rollback(struct st_store *s)
{
	struct st_error ignored; /* without a connection there is nothing to roll back */
	(void)!st_store_run(s, "ROLLBACK", &ignored);
}

bool
st_store_is_lost(const struct st_store *s)
{
	return s->database->kind->lost(s->database);
}

/* The place: what `store` is set to, the folder of the repository, or .strobe. */
static st_status
store_locate(struct st_store *s, const char *make, struct st_error *e)
{
	struct st_config config = {0};
	*s = (struct st_store){0};
	if (st_vcs_git(&s->vcs, e) || (!s->vcs && st_vcs_counter(&s->vcs, make, e)))
		return -1;
	if (!s->vcs)
		return st_fail(e, ST_EXIT_FAILED,
		               "there is no store here: run strobe init in a git repository or in "
		               "the folder of your project");
	if (st_config_read(&config, s->vcs->data, e))
		return -1;
	const char *place = st_config_get(&config, "store");
	s->remote = place && st_is_postgresql(place);
	s->folder =
	        place && !s->remote ? st_config_path(place, s->vcs->data) : strdup(s->vcs->data);
	if (s->folder)
		s->place = s->remote ? strdup(place) : st_text_of("%s/" ST_STORE_FILE, s->folder);
	st_config_free(&config);
	return s->place ? 0 : st_store_no_memory(e);
}

static st_status
store_make_folder(const struct st_store *s, struct st_error *e)
{
	if (!mkdir(s->folder, 0777) || errno == EEXIST)
		return 0;
	return st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s of the store: %s", s->folder,
	               strerror(errno));
}

static st_status
store_connect(struct st_store *s, bool *made, struct st_error *e)
{
	int status = s->remote ? st_postgresql_open(&s->database, s->place, made, e)
	                       : st_sqlite_open(&s->database, s->place, made, e);
	if (!status)
		st_vcs_counter_use(s->vcs, s->database);
	return status ? ST_FAILED : ST_OK;
}

st_status
st_store_create(struct st_store *s, bool *made, struct st_error *e)
{
	char *here = realpath(".", NULL);
	int status = here ? store_locate(s, here, e) : st_store_no_memory(e);
	free(here);
	if (!status)
		status = store_make_folder(s, e);
	if (!status)
		status = store_connect(s, made, e);
	if (status)
		st_store_close(s);
	return status ? ST_FAILED : ST_OK;
}

/* A server is asked only when the store is opened. */
static bool
store_is_there(const struct st_store *s)
{
	return s->remote || !access(s->place, F_OK);
}

st_status
st_store_locate_file(struct st_store *s, struct st_error *e)
{
	st_status status = store_locate(s, NULL, e);
	if (!status && s->remote)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "the store %s is on a PostgreSQL server: repair it with the tools "
		                 "of the server, or restore a backup",
		                 s->place);
	else if (!status && !store_is_there(s))
		status = st_fail(e, ST_EXIT_FAILED, "there is no store in %s: run strobe init",
		                 s->folder);
	if (status)
		st_store_close(s);
	return status;
}

st_status
st_store_open(struct st_store *s, struct st_error *e)
{
	int status = store_locate(s, NULL, e);
	if (!status && !store_is_there(s))
		status = st_fail(e, ST_EXIT_FAILED, "there is no store in %s: run strobe init",
		                 s->folder);
	if (!status)
		status = store_connect(s, NULL, e);
	if (status)
		st_store_close(s);
	return status ? ST_FAILED : ST_OK;
}

/* Whether there is a project at all that could have one. */
static st_status
store_find_project(bool *found, struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	if (st_vcs_git(&vcs, e) || (!vcs && st_vcs_counter(&vcs, NULL, e)))
		return -1;
	*found = vcs != NULL;
	if (vcs)
		vcs->kind->close(vcs);
	return 0;
}

st_status
st_store_open_if_any(struct st_store *s, bool *found, struct st_error *e)
{
	*s = (struct st_store){0};
	*found = false;
	if (store_find_project(found, e))
		return ST_FAILED;
	if (!*found)
		return ST_OK;
	int status = store_locate(s, NULL, e);
	*found = !status && store_is_there(s);
	st_store_close(s);
	if (status)
		return ST_FAILED;
	if (*found && st_store_open(s, e)) {
		*found = false;
		return ST_FAILED;
	}
	return ST_OK;
}

void
st_store_close(struct st_store *s)
{
	if (s->database)
		s->database->kind->close(s->database);
	ZSTD_freeCCtx(s->compressor);
	ZSTD_freeDCtx(s->decompressor);
	if (s->vcs)
		s->vcs->kind->close(s->vcs);
	free(s->folder);
	free(s->place);
	*s = (struct st_store){0};
}
