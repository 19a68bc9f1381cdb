/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes profiles as the store of Perun has them: objects that are named by their SHA-1, an index
 * of the profiles of each commit, and the changes that Perun found there. import/perun_store.h
 * describes the files.
 */
#ifndef STROBE_EXPORT_PERUN_STORE_H
#define STROBE_EXPORT_PERUN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sha1.h"
#include "base/vec.h"

struct st_profile;

/* The texts of an entry of the index, in the order of the file. */
enum st_perun_text {
	ST_PERUN_TYPE,
	ST_PERUN_CMD,
	ST_PERUN_WORKLOAD,
	ST_PERUN_COLLECTOR,
	ST_PERUN_POSTPROCESSORS,
	ST_PERUN_TEXTS
};

/* A profile of a commit. */
struct st_perun_row {
	char object[ST_SHA1_HEX + 1];
	char *name;   /* of its file */
	int64_t time; /* of its measurement, in seconds since 1970 */
	char *texts[ST_PERUN_TEXTS];
};

struct st_perun_rows {
	ST_VEC(struct st_perun_row) v;
};

void st_perun_rows_free(struct st_perun_rows *rows);

/* Creates the folder and its folder of objects, which is returned, malloc'ed. NULL with *e, also
 * when there are objects already. */
char *st_perun_out_create(const char *folder, struct st_error *e);
/* Writes a profile as an object, and appends it to the rows. -1 with *e: the profile has no
 * measurements (*suits false), or the object cannot be written. */
st_status st_perun_out_profile(const char *objects, const struct st_profile *p,
                               struct st_perun_rows *rows, bool *suits, struct st_error *e);
/* Writes the index of a commit. */
st_status st_perun_out_index(const char *objects, const char *commit,
                             const struct st_perun_rows *rows, struct st_error *e);
/* Writes the changes that an import of the commit has kept with the profile, if there are any. */
st_status st_perun_out_changes(const char *objects, const char *commit, const struct st_profile *p,
                               struct st_error *e);

#endif
