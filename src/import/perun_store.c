/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the folder .perun/objects. */
#include "import/perun_store.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/number.h"
#include "base/order.h"
#include "base/regular.h"
#include "base/text.h"
#include "base/wholefile.h"
#include "import/import.h"

/* Bytes. Perun reads an object as a whole, so that a larger one is damaged. */
enum { MOST_OBJECT = 1 << 30, MOST_HEADER = 64 };
static const char changes_ending[] = ".changes";

static st_status
perun_store_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to read a store of Perun");
}

static bool
perun_store_is_hex(const char *name, size_t n)
{
	return strlen(name) >= n && strspn(name, "0123456789abcdef") >= n;
}

char *
st_perun_store_path(const struct st_perun_store *s, const char *name, const char *ending)
{
	return st_text_of("%s/%.2s/%s%s", s->objects, name, name + 2, ending);
}

/* ---- an object ---- */

/* Parses "profile TYPE LENGTH\0". Returns its size; 0: it is not such a header. */
static size_t
perun_object_header(const char *head, size_t n, size_t *length)
{
	const char *end = memchr(head, 0, n),
	           *blank = end ? memrchr(head, ' ', (size_t)(end - head)) : NULL;
	if (!blank || blank < head + 8 || strncmp(head, "profile ", 8) != 0)
		return 0;
	char *stop;
	unsigned long long value = strtoull(blank + 1, &stop, 10);
	*length = (size_t)value;
	return stop == end && value < MOST_OBJECT ? (size_t)(end - head) + 1 : 0;
}

static st_status
perun_object_damaged(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "it is damaged, or not a profile of Perun");
}

/* All bytes after the header; NULL with *e. */
static char *
perun_object_inflate(z_stream *z, char head[MOST_HEADER], size_t *n_head, size_t *size,
                     struct st_error *e)
{
	z->next_out = (unsigned char *)head;
	z->avail_out = MOST_HEADER;
	int status = inflate(z, Z_NO_FLUSH);
	size_t got = MOST_HEADER - z->avail_out;
	*n_head =
	        status == Z_OK || status == Z_STREAM_END ? perun_object_header(head, got, size) : 0;
	char *json = *n_head ? malloc(*size + 1) : NULL;
	if (!json || got - *n_head > *size) {
		ST_IGNORE(*n_head && !json ? perun_store_no_memory(e) : perun_object_damaged(e));
		free(json);
		return NULL;
	}
	memcpy(json, head + *n_head, got - *n_head);
	z->next_out = (unsigned char *)json + (got - *n_head);
	z->avail_out = (uInt)(*size - (got - *n_head)) + 1; /* one more, to notice excess data */
	if (status != Z_STREAM_END)
		status = inflate(z, Z_FINISH);
	if (status == Z_STREAM_END && z->avail_out == 1) {
		json[*size] = '\0';
		return json;
	}
	ST_IGNORE(perun_object_damaged(e));
	free(json);
	return NULL;
}

char *
st_perun_object_unpack(const void *bytes, size_t n, const char *name, size_t *size,
                       struct st_error *e)
{
	char head[MOST_HEADER], hex[ST_SHA1_HEX + 1];
	size_t n_head = 0;
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (uInt)n};
	if (n > MOST_OBJECT || inflateInit(&z) != Z_OK) {
		ST_IGNORE(n > MOST_OBJECT ? perun_object_damaged(e) : perun_store_no_memory(e));
		return NULL;
	}
	char *json = perun_object_inflate(&z, head, &n_head, size, e);
	inflateEnd(&z);
	if (!json)
		return NULL;
	st_sha1_hex(head, n_head, json, *size, hex);
	if (!strcmp(hex, name))
		return json;
	st_cause(e, ST_EXIT_FAILED, "its SHA-1 differs from its name");
	free(json);
	return NULL;
}

static char *
perun_store_slurp(const char *path, size_t *n, struct st_error *e)
{
	char *bytes;
	return st_whole_read(&bytes, n, path, ST_WHOLE_DATA, e) ? NULL : bytes;
}

char *
st_perun_store_object(const struct st_perun_store *s, const char *object, size_t *n,
                      struct st_error *e)
{
	size_t packed;
	char *path = st_perun_store_path(s, object, "");
	char *bytes = path ? perun_store_slurp(path, &packed, e) : NULL;
	char *json = bytes ? st_perun_object_unpack(bytes, packed, object, n, e) : NULL;
	if (!path)
		ST_IGNORE(perun_store_no_memory(e));
	free(bytes);
	free(path);
	return json;
}

/* ---- the folder ---- */

/* Takes over the sentence. */
static st_status
perun_store_problem(struct st_perun_store *s, char *sentence, struct st_error *e)
{
	char **slot = sentence ? ST_PUSH(&s->problems) : NULL;
	if (slot)
		*slot = sentence;
	else
		free(sentence);
	return slot ? ST_OK : perun_store_no_memory(e);
}

static struct st_perun_commit *
perun_store_commit(struct st_perun_store *s, const char *name)
{
	for (size_t i = s->commits.n; i-- > 0;)
		if (!strcmp(s->commits.v[i].name, name))
			return &s->commits.v[i];
	struct st_perun_commit *c = ST_PUSH(&s->commits);
	if (c) {
		*c = (struct st_perun_commit){0};
		memcpy(c->name, name, ST_SHA1_HEX);
	}
	return c;
}

static st_status
perun_store_take_changes(struct st_perun_store *s, const char *name, const char *bytes, size_t n,
                         struct st_error *e)
{
	size_t bad;
	struct st_perun_commit *c = perun_store_commit(s, name);
	if (!c)
		return perun_store_no_memory(e);
	free(c->changes);
	c->changes = st_perun_changes_json(bytes, n, &c->n_changes, &bad);
	if (!c->changes)
		return perun_store_no_memory(e);
	if (!bad)
		return ST_OK;
	return perun_store_problem(s,
	                           st_text_of("%s of commit %.10s cannot be read",
	                                      ST_COUNT(bad, "change", "changes"), name),
	                           e);
}

static st_status
perun_store_take_index(struct st_perun_store *s, const char *name, const char *bytes, size_t n,
                       struct st_error *e)
{
	struct st_error why;
	struct st_perun_commit *c = perun_store_commit(s, name);
	if (!c)
		return perun_store_no_memory(e);
	if (!st_perun_index_read(&c->profiles, bytes, n, &why))
		return ST_OK;
	return perun_store_problem(
	        s, st_text_of("the index of commit %.10s cannot be read: %s", name, why.text), e);
}

/* A file of the folder AB: an index, changes, or an object, which is read when an index names it.
 */
static st_status
perun_store_take(struct st_perun_store *s, const char *folder, const char *file, struct st_error *e)
{
	char name[ST_SHA1_HEX + 1], head[4];
	const char *ending = file + ST_SHA1_HEX - 2;
	if (!perun_store_is_hex(file, ST_SHA1_HEX - 2) ||
	    (*ending && strcmp(ending, changes_ending) != 0))
		return ST_OK;
	snprintf(name, sizeof name, "%.2s%.38s", folder, file);
	char *path = st_perun_store_path(s, name, ending);
	FILE *f = path ? st_fopen_regular(path) : NULL;
	bool index = f && !*ending && fread(head, 1, sizeof head, f) == sizeof head &&
	             !memcmp(head, "pidx", sizeof head);
	if (f)
		fclose(f);
	size_t n;
	struct st_error why;
	char *bytes = f && (index || *ending) ? perun_store_slurp(path, &n, &why) : NULL;
	st_status status = path ? ST_OK : perun_store_no_memory(e);
	if (bytes)
		status = index ? perun_store_take_index(s, name, bytes, n, e)
		               : perun_store_take_changes(s, name, bytes, n, e);
	else if (path && (!f || index || *ending))
		status = perun_store_problem(s, st_text_of("%s cannot be read", path), e);
	free(bytes);
	free(path);
	return status;
}

static st_status
perun_store_scan(struct st_perun_store *s, const char *folder, struct st_error *e)
{
	char *path = st_text_of("%s/%s", s->objects, folder);
	DIR *d = path ? opendir(path) : NULL;
	st_status status = path ? ST_OK : perun_store_no_memory(e);
	if (path && !d)
		status = perun_store_problem(
		        s, st_text_of("%s cannot be read: %s", path, strerror(errno)), e);
	for (struct dirent *entry; d && !status && (entry = readdir(d));)
		status = perun_store_take(s, folder, entry->d_name, e);
	if (d)
		closedir(d);
	free(path);
	return status;
}

/* The first of the folders that has objects; NULL: none has, or no memory. */
static char *
perun_store_find(const char *folder)
{
	static const char *const places[] = {"/.perun/objects", "/objects", ""};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct stat st;
		char *path = st_text_of("%s%s", folder, places[i]);
		if (path && !stat(path, &st) && S_ISDIR(st.st_mode))
			return path;
		free(path);
	}
	return NULL;
}

static int
perun_store_by_name(const void *a, const void *b)
{
	return strcmp(((const struct st_perun_commit *)a)->name,
	              ((const struct st_perun_commit *)b)->name);
}

st_status
st_perun_store_read(struct st_perun_store *s, const char *folder, struct st_error *e)
{
	*s = (struct st_perun_store){.objects = perun_store_find(folder)};
	DIR *d = s->objects ? opendir(s->objects) : NULL;
	if (!d)
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", folder, strerror(errno));
	st_status status = ST_OK;
	for (struct dirent *entry; !status && (entry = readdir(d));)
		if (strlen(entry->d_name) == 2 && perun_store_is_hex(entry->d_name, 2))
			status = perun_store_scan(s, entry->d_name, e);
	closedir(d);
	st_order(s->commits.v, s->commits.n, sizeof *s->commits.v, perun_store_by_name);
	if (!status && !s->commits.n && !s->problems.n)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "%s is not a folder of Perun, or has no profiles: give the folder "
		                 ".perun of a project",
		                 folder);
	return status;
}

void
st_perun_store_free(struct st_perun_store *s)
{
	for (size_t i = 0; i < s->commits.n; i++) {
		st_perun_index_free(&s->commits.v[i].profiles);
		free(s->commits.v[i].changes);
	}
	for (size_t i = 0; i < s->problems.n; i++)
		free(s->problems.v[i]);
	free(s->commits.v);
	free(s->problems.v);
	free(s->objects);
	*s = (struct st_perun_store){0};
}
