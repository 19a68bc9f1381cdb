/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The models of a profile of Perun. */
#ifndef STROBE_IMPORT_PERUN_MODELS_H
#define STROBE_IMPORT_PERUN_MODELS_H

#include "import/perun_key.h"

/* Keeps the models that have a formula; the profile has its series. What is no such model stays in
 * the extra `models` alone. */
st_status st_perun_models(struct st_perun *x);

#endif
