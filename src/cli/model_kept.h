/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe model --save and --kept. */
#ifndef STROBE_CLI_MODEL_KEPT_H
#define STROBE_CLI_MODEL_KEPT_H

#include "check/kept.h"
#include "cli/model.h"
#include "report/kept.h"

/* Whether the options fit --save and --kept. */
st_status st_model_kept_check(const struct st_model_arguments *a, struct st_error *e);

/* Whether the file can be written: it is no stored profile, and not read-only. */
st_status st_model_save_check(const char *path, struct st_error *e);

/* Puts the models of a subject in the place of the earlier ones of the same subject and options. */
st_status st_model_keep(struct st_profile *p, const struct st_kept_key *key,
                        const struct st_segments *parts, size_t rows_left_out, struct st_error *e);

/* Shows the kept answers that the options name. several: more than one is shown. */
st_status st_model_show_kept(const struct st_model_arguments *a, const struct st_profile *p,
                             void (*show)(void *, const struct st_model_report *, bool several),
                             void *into, struct st_error *e);

#endif
