/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared declarations of strobe annotate. */
#ifndef STROBE_CLI_ANNOTATE_H
#define STROBE_CLI_ANNOTATE_H

#include "annotate/compare.h"
#include "annotate/contract.h"
#include "annotate/formulate.h"
#include "batch/batch.h"
#include "features/find.h"
#include "session/region.h"

enum st_annotate_form { ST_ANNOTATE_TEXT, ST_ANNOTATE_JSON, ST_ANNOTATE_MARKDOWN, ST_ANNOTATE_C };

struct st_annotate_arguments {
	struct st_patterns files; /* of records; empty if there is a program */
	char *const *program;     /* with its arguments; NULL: not given */
	struct st_patterns functions, images;
	struct st_feature_limits limits;
	const char *output; /* of records or annotations; NULL: not given */
	const char *asked;  /* an option for runs only; NULL: none was given */
	const char *search; /* an option for the search for features only; NULL: none was given */
	uint32_t metrics, keep;
	long pid;       /* of a running process; 0: not given */
	double seconds; /* of recording; 0: not given */
	bool follow;
	bool branches; /* record the outcomes of branches */
	bool twice;    /* read the data of each call twice */
	uint64_t seed;
	bool features, quiet;        /* features: print them without a run */
	struct st_patterns inputs;   /* files and folders */
	const char *input;           /* record with this one only; NULL: not given */
	struct st_batch_place place; /* workers, with inputs */
	char *const *command;        /* the words of the user after "strobe annotate" */
	bool save;                   /* keep the annotations in the project */
	bool check;                  /* compare the records with annotations */
	const char *kept;            /* a file of annotations; NULL: those of the project */
	const char *checking;        /* an option for --check only; NULL: none was given */
	double margin, alarm;        /* accepted increase, probability of a false alarm */
	bool json, help;
	const char *metrics_text; /* the argument of --metrics; NULL: not given */
	/* For the analysis of records. */
	struct st_patterns chosen;  /* metrics */
	struct st_patterns without; /* features that are left out */
	struct st_ann_options analysis;
	const char *where, *function, *contracts;
	const char *explain; /* a function; NULL: not given */
	enum st_annotate_form form;
};

/* annotate_features.c: --features. */
st_status st_annotate_features(struct st_annotate_arguments *a, struct st_error *e);

/* annotate_record.c: -o with a program. Returns strobe's exit code. */
int st_annotate_record(const struct st_annotate_arguments *a);

/* annotate_inputs.c: the same with each of the inputs. */
int st_annotate_inputs(const struct st_annotate_arguments *a);

/* annotate_records.c: analyses files. Returns strobe's exit code. */
int st_annotate_records(const struct st_annotate_arguments *a, struct st_error *e);
/* Does the user choose this function, with or without its parameters, and this metric? */
bool st_annotate_chooses(const struct st_annotate_arguments *a, const char *function);
bool st_annotate_chooses_metric(const struct st_annotate_arguments *a, const char *metric);
/* annotate_check.c: --check. Returns strobe's exit code. */
int st_annotate_check(const struct st_annotate_arguments *a, const struct st_ann_data *d,
                      struct st_error *e);
/* annotate_explain.c: --explain. Returns strobe's exit code. */
int st_annotate_explain(const struct st_annotate_arguments *a, const struct st_ann_data *d,
                        struct st_error *e);
/* Does a pattern fit the name of a function, with or without its parameters? */
bool st_annotate_fits(const char *pattern, const char *name);
/* annotate_contracts.c: --contracts. Returns strobe's exit code. */
int st_annotate_contracts(const struct st_annotate_arguments *a, const struct st_ann_data *d,
                          struct st_error *e);

#endif
