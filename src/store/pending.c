/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/pending.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/order.h"
#include "base/regular.h"
#include "base/text.h"
#include "profile/profile.h"

/* By its header: a profile of strobe, of whatever version. */
static bool
pending_is_profile(const char *path)
{
	enum { APPLICATION_ID = 68, HEADER = 72 };
	static const unsigned char id[] = {
	        ST_PROFILE_APPLICATION_ID >> 24 & 0xff, ST_PROFILE_APPLICATION_ID >> 16 & 0xff,
	        ST_PROFILE_APPLICATION_ID >> 8 & 0xff, ST_PROFILE_APPLICATION_ID & 0xff};
	unsigned char header[HEADER];
	int fd = st_open_regular(path);
	if (fd < 0)
		return false;
	bool whole = read(fd, header, sizeof header) == sizeof header;
	close(fd);
	return whole && !memcmp(header, "SQLite format 3", 16) &&
	       !memcmp(header + APPLICATION_ID, id, sizeof id);
}

static st_status
pending_is_stored(struct st_store *s, const char *sql, const int64_t *values, int n, bool *stored,
                  struct st_error *e)
{
	struct st_query *rows = NULL;
	if (st_store_query(s, &rows, sql, e))
		return -1;
	for (int i = 0; i < n; i++)
		st_query_put_number(rows, i + 1, values[i]);
	int step = st_query_step(rows, e);
	*stored = step > 0;
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* The file as it was added: nobody has to open it. */
static st_status
pending_is_added_file(struct st_store *s, const char *path, bool *stored, struct st_error *e)
{
	struct stat st;
	*stored = stat(path, &st) != 0; /* gone meanwhile */
	if (*stored)
		return 0;
	const int64_t values[] = {(int64_t)st.st_ino, (int64_t)st.st_dev, st.st_size,
	                          (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec};
	return pending_is_stored(s,
	                         "SELECT 1 FROM profile WHERE inode = ? AND device = ? AND "
	                         "file_size = ? AND file_ns = ?",
	                         values, 4, stored, e);
}

/* When the run began, and how long it took; false: the file cannot be read. */
static bool
pending_run(const char *path, int64_t run[2])
{
	sqlite3 *db = NULL;
	sqlite3_stmt *rows = NULL;
	bool good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) ==
	            SQLITE_OK;
	if (good) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	}
	good = good &&
	       sqlite3_prepare_v2(db, "SELECT start_ns, wall_ns FROM run", -1, &rows, NULL) ==
	               SQLITE_OK &&
	       sqlite3_step(rows) == SQLITE_ROW;
	for (int i = 0; i < 2 && good; i++)
		run[i] = sqlite3_column_int64(rows, i);
	sqlite3_finalize(rows);
	sqlite3_close(db);
	return good;
}

static st_status
pending_take(struct st_store *s, struct st_pending_list *l, char *path, struct st_error *e)
{
	bool stored;
	int64_t run[2] = {0};
	if (!pending_is_profile(path))
		return 0;
	if (pending_is_added_file(s, path, &stored, e))
		return -1;
	if (stored)
		return 0;
	if (pending_run(path, run) && run[0] && /* 0: an imported file without a time */
	    pending_is_stored(s, "SELECT 1 FROM profile WHERE start_ns = ? AND wall_ns = ?", run, 2,
	                      &stored, e))
		return -1;
	if (stored)
		return 0;
	struct st_pending *slot = ST_PUSH(&l->v);
	if (slot)
		*slot = (struct st_pending){strdup(path), run[0]};
	return slot && slot->file ? 0 : st_store_no_memory(e);
}

/* A folder that is not there, or cannot be read, has none. */
static st_status
pending_in_folder(struct st_store *s, struct st_pending_list *l, const char *folder,
                  struct st_error *e)
{
	DIR *d = opendir(folder ? folder : ".");
	int status = 0;
	for (struct dirent *entry; d && !status && (entry = readdir(d));) {
		size_t n = strlen(entry->d_name);
		if (n < 4 || strcmp(entry->d_name + n - 3, ".db") != 0)
			continue;
		char *path =
		        folder ? st_text_of("%s/%s", folder, entry->d_name) : strdup(entry->d_name);
		status = path ? pending_take(s, l, path, e) : st_store_no_memory(e);
		free(path);
	}
	if (d)
		closedir(d);
	return status ? ST_FAILED : ST_OK;
}

static int
pending_by_name(const void *a, const void *b)
{
	return strcmp(((const struct st_pending *)a)->file, ((const struct st_pending *)b)->file);
}

st_status
st_pending_find(struct st_store *s, struct st_pending_list *out, struct st_error *e)
{
	*out = (struct st_pending_list){0};
	int status = pending_in_folder(s, out, NULL, e);
	if (!status && s->vcs->root) {
		size_t n = strlen(s->vcs->root);
		bool slash = n && s->vcs->root[n - 1] == '/';
		char *folder = st_text_of("%s%s.strobe/pending", s->vcs->root, slash ? "" : "/");
		status = folder ? pending_in_folder(s, out, folder, e) : st_store_no_memory(e);
		free(folder);
	}
	st_order(out->v.v, out->v.n, sizeof *out->v.v, pending_by_name);
	return status ? ST_FAILED : ST_OK;
}

void
st_pending_free(struct st_pending_list *l)
{
	for (size_t i = 0; i < l->v.n; i++)
		free(l->v.v[i].file);
	free(l->v.v);
	*l = (struct st_pending_list){0};
}
