/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of a resource of Perun beside its amount: its series, and features. */
#ifndef STROBE_IMPORT_PERUN_KEY_H
#define STROBE_IMPORT_PERUN_KEY_H

#include "import/json.h"

struct st_perun_number {
	const char *feature;
	double value;
};

/* A Perun profile while it is read. */
struct st_perun {
	struct st_import *in;
	struct st_error *e;
	json_t *root;
	const json_t *units;
	const char *type, *workload; /* of the whole profile; NULL: not said */
	size_t resources;            /* read so far */
	/* Of the resource that is being read: */
	struct st_import_key key;
	const char *subtype;
	bool has_uid;
	double amount; /* NAN: none */
	ST_VEC(struct st_perun_number) numbers;
};

/* Reads what the profile says of itself. */
void st_perun_header(struct st_perun *x);

/* Begins a resource, takes its fields, ends it; that fails when it has no uid. */
void st_perun_key_begin(struct st_perun *x);
st_status st_perun_key_field(struct st_perun *x, const char *name, const json_t *value);
st_status st_perun_key_number(struct st_perun *x, const char *feature, double value);
/* The time of a snapshot, which may be a text. */
st_status st_perun_key_time(struct st_perun *x, const json_t *time);
st_status st_perun_key_end(struct st_perun *x);
void st_perun_key_free(struct st_perun *x);

/* Strobe's name for a column of Perun's. */
const char *st_perun_feature(const char *column);
/* Says that memory is exhausted, or that there are too many features. Returns ST_FAILED. */
st_status st_perun_no_feature(struct st_perun *x, const char *feature);

#endif
