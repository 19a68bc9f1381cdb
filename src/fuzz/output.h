/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A campaign's folder: results/ (interesting inputs), faults/, hangs/, findings/N/ (witness,
 * minimal, difference.txt, generate.sh, contract.txt, records.sh, family.sh, job.yaml), log.csv (a
 * line for each input that was kept), fuzz.json, and the journal (fuzz/journal.h). Each file is
 * written as soon as there is something to write.
 */
#ifndef STROBE_FUZZ_OUTPUT_H
#define STROBE_FUZZ_OUTPUT_H

#include <jansson.h>

#include "fuzz/finding.h"
#include "report/text.h"

struct st_fuzz_folder {
	const char *path;
	FILE *log;
	size_t n_results;
};

/* Makes the folder, or takes the one of the campaign to be resumed. ST_FAILED with *e: it has a
 * campaign that is not to be resumed, or none, or cannot be made. */
st_status st_fuzz_folder_open(struct st_fuzz_folder *f, const char *path, bool resume,
                              struct st_error *e);
/* Begins log.csv again, which the journal repeats: to be called when that could be opened. */
st_status st_fuzz_folder_log(struct st_fuzz_folder *f, struct st_error *e);
void st_fuzz_folder_close(struct st_fuzz_folder *f);

/* Inputs that were read: the caller frees the array with what it holds. */
struct st_fuzz_inputs {
	struct st_fuzz_bytes *v;
	size_t n, cap;
};
/* Adds what a file or all files of a folder hold, by name; of most bytes each. ST_FAILED with *e:
 * it cannot be read. */
st_status st_fuzz_inputs_read(struct st_fuzz_inputs *inputs, const char *path, size_t most,
                              struct st_error *e);
void st_fuzz_inputs_free(struct st_fuzz_inputs *inputs);

/* The `keep` of a campaign, whose arg is the folder. */
st_status st_fuzz_folder_keep(void *folder, const struct st_fuzz_campaign *c,
                              const struct st_fuzz_input *input, const struct st_fuzz_fault *fault,
                              struct st_error *e);
st_status st_fuzz_folder_finding(const struct st_fuzz_folder *f, const struct st_fuzz_campaign *c,
                                 const struct st_finding *finding, size_t number,
                                 struct st_error *e);
/* contract.txt, records.sh and, unless the input is an argument, family.sh and job.yaml, in the
 * finding's folder; nothing if it has no family. */
st_status st_fuzz_write_cases(const char *folder, const struct st_fuzz_campaign *c,
                              const struct st_finding *f, struct st_error *e);

/* The result: docs/json.md. NULL: no memory. */
json_t *st_fuzz_json(const struct st_fuzz_campaign *c, const struct st_findings *findings,
                     struct st_fuzz_functions *functions, const char *folder, double seconds);
void st_fuzz_print(const struct st_fuzz_campaign *c, const struct st_findings *findings,
                   struct st_fuzz_functions *functions, const char *folder, FILE *out,
                   struct st_style style);

#endif
