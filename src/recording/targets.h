/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of a process that are recorded, and their descriptions for the runtime. */
#ifndef STROBE_RECORDING_TARGETS_H
#define STROBE_RECORDING_TARGETS_H

#include "features/targets.h"
#include "mem/images.h"
#include "probe/probes.h"
#include "recording/machine.h"
#include "recording/recording.h"
#include "recording/save.h"

/* A function that is recorded. */
struct st_recorded {
	uint32_t image; /* of the probes' images */
	uint64_t entry;
	struct st_feature_table table;
	bool bare;         /* there is no debug information: its features are registers */
	uint32_t function; /* struct st_record_function in the area: offset / 8 */
};

struct st_recording_targets {
	const struct st_recording_request *request;
	struct st_probes *probes;
	struct st_mem_images mem;
	ST_VEC(struct st_recorded) list;
	size_t current; /* index of the first function of the image that was mapped last */
	/* Functions of that image that take locks or wait. */
	ST_VEC(struct st_recording_waiting {
		uint64_t entry;
		enum st_record_metric metric; /* of the time in it; ST_RECORD_TIME: none */
		enum st_held_role role;
		bool is_general; /* the function makes any system call: syscall(2) */
	})
	waiting;
	size_t *matched; /* by pattern */
	size_t crowded;  /* functions for which the area has no space */
	struct st_machine_watch watch;
	uint32_t machine; /* struct st_machine in the area: offset / 8; 0: there is none */
	uint32_t keep;    /* at most request->keep; less if there are many functions */
	bool no_memory;
};

/* The targets of all processes, each in its own area of shared memory. A process that executes
 * another program is another one here; a child of fork has the area of its parent. */
struct st_recording {
	const struct st_recording_request *request;
	struct st_probes *probes;                        /* the program's */
	ST_VEC(struct st_recording_targets *) processes; /* the program's first */
	struct st_recording_interim interim;
	double unfinished; /* seconds since the beginning of a run that has not ended; 0: it has */
	bool no_memory;
};

/* For struct st_probes: `mapped` and `choose`, whose argument is struct st_recording. */
void st_recording_mapped(void *recording, const struct st_probed_image *image);
struct st_probe_action st_recording_choose(void *recording, const struct st_probed_image *image,
                                           const struct st_function *f);
void st_recording_free(struct st_recording *r);
st_status st_recording_targets_begin(struct st_recording_targets *t,
                                     const struct st_recording_request *r,
                                     struct st_probes *probes);
void st_recording_targets_free(struct st_recording_targets *t);

/* Finds the functions of an image that take or release locks or wait, if metrics need them. */
void st_recording_find_waiting(struct st_recording_targets *t, struct st_image *image);
/* The action of the function of that image; kind ST_PROBE_NOTHING: it is none of these. */
struct st_probe_action st_recording_choose_waiting(const struct st_recording_targets *t,
                                                   uint64_t entry);
/* Returns the first function that takes or releases locks and was not observed, because of which
 * the times that locks were held are not known; NULL: all were observed. *why: the cause. */
const char *st_recording_unseen_lock(const struct st_recording_targets *t, const char **why);

/* The runtime's description of a function; NULL: the area had no space for it. */
struct st_record_function *st_recorded_function(const struct st_probes *probes,
                                                const struct st_recorded *f);

/* Size / 8 of the costs of one callee in a row; 0: rows have none. */
uint32_t st_recorded_callee_words(const struct st_recording_request *r);
/* The values that the first operations of a table leave in a row. */
uint32_t st_recorded_values(const struct st_feature_table *t, size_t ops);
/* Finds the features of a function. *bare: it has no debug information, and its features are the
 * registers of arguments. Fails when memory is exhausted. */
st_status st_recorded_features(struct st_feature_table *table, bool *bare, struct st_image *image,
                               uint64_t entry, const struct st_feature_limits *limits);
/* The reason for which a function has no probe; NULL: it has one. */
const char *st_recorded_refusal(const struct st_probes *probes, const struct st_recorded *f);

/* write.c: writes the file, also while calls are made: rows that change meanwhile are left out. */
st_status st_recording_write(const struct st_recording *r, FILE *out,
                             struct st_recording_outcome *outcome, struct st_error *e);

#endif
