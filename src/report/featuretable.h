/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the features of functions: strobe annotate --features. */
#ifndef STROBE_REPORT_FEATURETABLE_H
#define STROBE_REPORT_FEATURETABLE_H

#include <jansson.h>

#include "features/find.h"
#include "report/text.h"

void st_features_print(const struct st_feature_table *t, struct st_style style, FILE *out);
/* NULL: memory is exhausted. */
json_t *st_features_json(const struct st_feature_table *t);

/* Internal: the name of a register of struct st_place. */
const char *st_place_register(unsigned number);

#endif
