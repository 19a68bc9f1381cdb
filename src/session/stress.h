/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_SESSION_STRESS_H
#define STROBE_SESSION_STRESS_H

#include <stdint.h>

#include "base/error.h"

/* Adds the bits of a list of stress modes. 0, or -1 with *e. */
st_status st_stress_parse(const char *list, uint32_t *bits, struct st_error *e);

#endif
