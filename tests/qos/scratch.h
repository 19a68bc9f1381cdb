/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tests of sources have in common: a folder, and sources that have to open. */
#ifndef STROBE_TESTS_QOS_SCRATCH_H
#define STROBE_TESTS_QOS_SCRATCH_H

#include "qos/source.h"

extern char folder[]; /* for mkdtemp */
/* Of a file in it; until the next call. */
const char *path_of(const char *name);
/* Fails the test when it cannot be opened. */
__attribute__((format(printf, 2, 3))) void *open_source(const struct st_qos_kind *kind,
                                                        const char *format, ...);

#endif
