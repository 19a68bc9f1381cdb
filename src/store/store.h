/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store: profiles, each tied to a version of the project. One database has the index and the
 * contents, so that a profile is there as a whole or not at all (docs/notes/store.md).
 */
#ifndef STROBE_STORE_STORE_H
#define STROBE_STORE_STORE_H

#include "base/error.h"
#include "base/vec.h"
#include "store/backend.h"
#include "store/sha256.h"
#include "store/vcs.h"

#define ST_STORE_FILE "store.db"

struct st_store {
	struct st_database *database;
	char *folder; /* for files of the store that are not profiles, such as journals of jobs */
	bool remote;  /* the database is on a server */
	char *place;  /* of the database: a file, or the address of a server */
	struct st_vcs *vcs;
	/* Kept from one object to the next: making them takes longer than a small object. */
	struct ZSTD_CCtx_s *compressor;
	struct ZSTD_DCtx_s *decompressor;
};

/* The relation of a profile to the requested version. */
enum st_link {
	ST_LINK_VERSION, /* it was measured there */
	ST_LINK_TREE,    /* measured at a version that is not in its history, of the same content */
	ST_LINK_PATCH,   /* the same, with the same change to another base */
};
extern const char *const st_link_names[];

/* A stored profile as the index has it. */
struct st_stored {
	int64_t row, version, configuration, machine;
	struct st_hash hash; /* its name */
	char *of;            /* name of the version it was measured at */
	char *collector, *command, *workload, *parameters, *file;
	int64_t added_ns, start_ns, wall_ns;
	bool dirty; /* files differed from the version */
	enum st_link link;
};

struct st_stored_list {
	ST_VEC(struct st_stored) v;
};

void st_stored_free(struct st_stored *s);
void st_stored_list_free(struct st_stored_list *l);

/* Makes the store of the project around the current folder, or finds it there; *made says which.
 * 0, or -1 with *e. */
st_status st_store_create(struct st_store *s, bool *made, struct st_error *e);
/* Finds out where the store is, which must be a file, without opening it. */
st_status st_store_locate_file(struct st_store *s, struct st_error *e);
/* Opens it. 0, or -1 with *e and nothing to close. */
st_status st_store_open(struct st_store *s, struct st_error *e);
/* The same; *found false, and nothing to close: there is none. */
st_status st_store_open_if_any(struct st_store *s, bool *found, struct st_error *e);
void st_store_close(struct st_store *s);

/* A profile file to be added. */
struct st_addition {
	const char
	        *file; /* as it is named; `profile` was made of it, or is NULL: it is one itself */
	char *profile;
	const char *workload; /* NULL: none */
	bool known;           /* out: it was there already */
	char of[65];          /* out: name of the version that it is of */
	struct st_hash hash;  /* out: its name */
	uint64_t bytes;       /* out: that the store has grown by */
};
/* Adds n profiles to a version, all or none. rev NULL: the version that is checked out, or the next
 * one of a counter. *version receives it. 0, or -1 with *e. */
st_status st_store_add(struct st_store *s, struct st_addition *files, size_t n, const char *rev,
                       struct st_version *version, struct st_error *e);

/* Removes profiles; their contents stay until st_store_gc. */
st_status st_store_remove(struct st_store *s, const struct st_stored_list *l, struct st_error *e);

/* The version that a text names: HEAD, a branch, a commit, or one that only the store knows by now.
 * 0, or -1 with *e. */
st_status st_store_version(struct st_store *s, const char *rev, struct st_version *out,
                           struct st_error *e);
/* The profiles that belong to a version, in the order in which they were added. */
st_status st_store_of_version(struct st_store *s, const struct st_version *v,
                              struct st_stored_list *out, struct st_error *e);
/* The profile whose name begins with these digits; *found false: there is none. -1 with *e also
 * when there are several. */
st_status st_store_find(struct st_store *s, const char *digits, struct st_stored *out, bool *found,
                        struct st_error *e);
/* Writes a profile to a file, as it was. 0, or -1 with *e. */
st_status st_store_extract(struct st_store *s, const struct st_stored *p, const char *path,
                           struct st_error *e);

/* Prepares a statement of the index. */
st_status st_store_query(struct st_store *s, struct st_query **out, const char *sql,
                         struct st_error *e);
/* Runs statements that return nothing. */
st_status st_store_run(struct st_store *s, const char *sql, struct st_error *e);
/* A transaction, during which nobody else writes. After an error in it, the caller must roll it
 * back. */
st_status st_store_begin(struct st_store *s, struct st_error *e);
st_status st_store_commit(struct st_store *s, struct st_error *e);
void st_store_rollback(struct st_store *s);
/* Is the connection to the server of the store lost? */
bool st_store_is_lost(const struct st_store *s);
st_status st_store_no_memory(struct st_error *e);

#endif
