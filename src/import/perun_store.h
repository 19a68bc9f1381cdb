/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store of Perun, the folder .perun/objects of a project. An object AB/CDEF... is compressed by
 * zlib: "profile TYPE LENGTH", a zero and the JSON, under the SHA-1 of these bytes. The profiles of
 * a commit are in an index under the commit's name, and the changes that Perun found there in a
 * text file beside it, with ".changes".
 */
#ifndef STROBE_IMPORT_PERUN_STORE_H
#define STROBE_IMPORT_PERUN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sha1.h"
#include "base/vec.h"

/* A profile in the index of a commit. */
struct st_perun_entry {
	char *name; /* of the file that was registered */
	char object[ST_SHA1_HEX + 1];
	int64_t time; /* of that file, in seconds since 1970 */
};

struct st_perun_index {
	ST_VEC(struct st_perun_entry) v;
};

struct st_perun_commit {
	char name[ST_SHA1_HEX + 1];
	struct st_perun_index profiles;
	char *changes; /* JSON; NULL: it has none */
	size_t n_changes;
};

struct st_perun_store {
	char *objects; /* the folder */
	ST_VEC(struct st_perun_commit) commits;
	ST_VEC(char *) problems; /* a sentence for each file that could not be read */
};

/* Reads the indices and the changes. folder: a project, its .perun, or the folder of the objects.
 * 0, or -1 with *e. The caller frees *s in both cases. */
st_status st_perun_store_read(struct st_perun_store *s, const char *folder, struct st_error *e);
void st_perun_store_free(struct st_perun_store *s);
/* The path of an object, or with the ending ".changes" of the changes of a commit. malloc'ed. */
char *st_perun_store_path(const struct st_perun_store *s, const char *name, const char *ending);
/* The JSON of a profile, malloc'ed; NULL with *e. */
char *st_perun_store_object(const struct st_perun_store *s, const char *object, size_t *n,
                            struct st_error *e);

/* ---- contents of files ---- */

bool st_perun_is_index(const void *bytes, size_t n);
/* 0, or -1 with *e, in which the caller's message names the file. The caller frees *out in both
 * cases. */
st_status st_perun_index_read(struct st_perun_index *out, const void *bytes, size_t n,
                              struct st_error *e);
void st_perun_index_free(struct st_perun_index *index);
/* The JSON of an object, whose SHA-1 must be its name; malloc'ed; NULL with *e. */
char *st_perun_object_unpack(const void *bytes, size_t n, const char *name, size_t *size,
                             struct st_error *e);
/* Converts the lines to a JSON list, malloc'ed; NULL: memory is exhausted. *good and *bad: numbers
 * of lines that could and could not be read. */
char *st_perun_changes_json(const char *text, size_t n, size_t *good, size_t *bad);

#endif
