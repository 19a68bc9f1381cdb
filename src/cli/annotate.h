/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of strobe annotate share. */
#ifndef STROBE_CLI_ANNOTATE_H
#define STROBE_CLI_ANNOTATE_H

#include "annotate/contract.h"
#include "annotate/formulate.h"
#include "features/find.h"
#include "session/region.h"

enum st_annotate_form { ST_ANNOTATE_TEXT, ST_ANNOTATE_JSON, ST_ANNOTATE_MARKDOWN, ST_ANNOTATE_C };

struct st_annotate_arguments {
	struct st_patterns files; /* of records; with a program there are none */
	char *const *program;     /* its arguments follow; NULL: none was given */
	struct st_patterns functions, images;
	struct st_feature_limits limits;
	const char *output; /* of records or annotations; NULL: not given */
	const char *asked;  /* an option that is about a run; NULL: none was given */
	uint32_t metrics, keep;
	uint64_t seed;
	bool features, quiet; /* features: print them and run nothing */
	bool json, help;
	const char *metrics_text; /* --metrics as it is; NULL: not given */
	/* The analysis of records. */
	struct st_patterns chosen; /* metrics */
	struct st_ann_options analysis;
	const char *where, *function, *contracts;
	enum st_annotate_form form;
};

/* annotate_features.c: --features. */
st_status st_annotate_features(struct st_annotate_arguments *a, struct st_error *e);

/* annotate_record.c: -o: strobe's exit code. */
int st_annotate_record(struct st_annotate_arguments *a);

/* annotate_records.c: the analysis of files: strobe's exit code. */
int st_annotate_records(const struct st_annotate_arguments *a, struct st_error *e);
/* annotate_contracts.c: the same of --contracts. */
int st_annotate_contracts(const struct st_annotate_arguments *a, const struct st_ann_data *d,
                          struct st_error *e);

#endif
