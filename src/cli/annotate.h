/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of strobe annotate share. */
#ifndef STROBE_CLI_ANNOTATE_H
#define STROBE_CLI_ANNOTATE_H

#include "features/find.h"
#include "session/region.h"

struct st_annotate_arguments {
	char *const *program; /* its arguments follow; NULL: none was given */
	struct st_patterns functions, images;
	struct st_feature_limits limits;
	const char *output; /* records; NULL: none are made */
	const char *asked;  /* an option that is about a run; NULL: none was given */
	uint32_t metrics, keep;
	uint64_t seed;
	bool features, quiet; /* features: print them and run nothing */
	bool json, help;
};

/* annotate_features.c: --features. */
st_status st_annotate_features(struct st_annotate_arguments *a, struct st_error *e);

/* annotate_record.c: -o: strobe's exit code. */
int st_annotate_record(struct st_annotate_arguments *a);

#endif
