/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records that the engine makes instead of probes: with the number of instructions and the outcomes
 * of branches. The tool `records` runs in the process and sends the parts of each record.
 */
#ifndef STROBE_RECORDING_ENGINE_H
#define STROBE_RECORDING_ENGINE_H

#include <pthread.h>
#include <stdio.h>

#include "base/frequency.h"
#include "control/run.h"
#include "recording/recording.h"
#include "recording/save.h"

/* Equal outcomes of a branch that followed each other. */
struct st_branch_run {
	uint32_t branch; /* of the function's */
	uint32_t order;  /* enum records_order */
	uint64_t outcome, times;
};

enum {
#define M(id, name, bit) 1 +
	ST_ENGINE_METRICS = ST_RECORD_ENGINE_METRICS(M) 0
#undef M
};

/* The costs that only the engine can count, in the order of ST_RECORD_ENGINE_METRICS. */
struct st_engine_metric {
	const char *name;
	uint32_t bit; /* in the metrics of a request */
};
extern const struct st_engine_metric st_engine_metrics[ST_ENGINE_METRICS];

struct st_engine_record {
	uint64_t serial, ticks;
	uint64_t counts[ST_ENGINE_METRICS];
	uint32_t tid;
	bool complete;
	uint64_t *values, *absent; /* n_kept of them; a bit for each */
	ST_VEC(struct st_branch_run) runs;
};

/* A branch of a function's code; addresses are the process'. */
struct st_engine_branch {
	uint64_t address, next, to; /* to: 0 of an indirect jump */
};

struct st_engine_function {
	uint32_t image; /* of the recording's */
	uint64_t entry; /* link-time address */
	struct st_feature_table table;
	bool bare;
	uint32_t n_kept;
	struct st_engine_record *records; /* `keep` of them; NULL: none has come */
	ST_VEC(struct st_engine_branch) branches;
	uint64_t calls, opened, ended;
};

struct st_engine_image {
	char *path;
	struct st_image *image;
	uint64_t bias;
};

/* The recording of one process; each child of the program has another one. */
struct st_engine_recording {
	const struct st_recording_request *request;
	ST_VEC(struct st_engine_image) images;
	ST_VEC(struct st_engine_function) functions;
	/* Records of which some parts have come, by thread. */
	ST_VEC(struct st_engine_pending {
		bool used;
		uint32_t function;
		struct st_engine_record record;
	})
	pending;
	size_t *matched; /* by pattern */
	bool no_memory;
	const void *process; /* the results of the process; NULL: it has ended */
};

struct st_engine_recordings {
	const struct st_recording_request *request;
	ST_VEC(struct st_engine_recording *) processes; /* the program's comes first */
	pthread_mutex_t lock; /* images are mapped and rows are taken by different threads */
	struct st_recording_interim interim;
	int64_t started; /* seconds since the epoch */
	struct st_moment begin;
	double unfinished; /* as of struct st_recording */
	bool no_memory;
};

/* Is the engine needed for these metrics? */
static inline bool
st_engine_is_needed(const struct st_recording_request *r)
{
	return r->metrics & ((uint32_t)ST_RECORD_OF_ENGINE | ST_RECORD_BRANCHES);
}

/* As run_probes of run.c. */
st_status st_engine_record(const struct st_recording_request *r,
                           struct st_recording_outcome *outcome, struct st_error *e);

/* engine_write.c */
st_status st_engine_write(const struct st_engine_recordings *all, const struct st_run *run,
                          int64_t start, FILE *out, struct st_recording_outcome *outcome);

/* A branch as the file of records has it. */
struct st_branch_name {
	uint32_t branch; /* of the function's */
	char *name;      /* file:line, or function+offset */
	/* What each outcome leads to: 0 and 1; of an indirect jump the targets, whose address then
	 * is `target`. */
	ST_VEC(struct st_branch_way {
		uint64_t target;
		char *where;
	})
	ways;
};
struct st_branch_names {
	ST_VEC(struct st_branch_name) list; /* by address */
};
/* branches.c: names the branches of a function. Fails when memory is exhausted; the caller frees in
 * both cases. */
st_status st_branch_names_find(const struct st_engine_recording *r, struct st_engine_function *f,
                               struct st_branch_names *out);
void st_branch_names_free(struct st_branch_names *n);

#endif
