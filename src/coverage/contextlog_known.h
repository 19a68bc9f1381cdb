/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Contexts of a log below which nothing new is expected: complete ones. Runs with a budget do not
 * follow what is called in them (docs/codelog.md).
 *
 * That is a guess: a context is complete when all below it has not grown in the last runs in which
 * it was entered, and it was entered often in them.
 */
#ifndef STROBE_COVERAGE_CONTEXTLOG_KNOWN_H
#define STROBE_COVERAGE_CONTEXTLOG_KNOWN_H

#include "base/status.h"
#include "coverage/contextlog.h"

struct st_results_header;

/* Of a complete context: runs in a row that entered it and found nothing new below it; activations
 * in them. */
enum { ST_QUIET_RUNS = 2, ST_QUIET_ACTIVATIONS = 16 };

/* Of a log that has none yet: makes the table of it. 0, or -1 with *e. */
st_status st_contextlog_make_quiet(struct st_codelog *log, struct st_error *e);
/* A run's contexts have been united with the log; entered: by number, how often it has entered a
 * context, n: of the last one. 0, or -1 with *e. */
st_status st_contextlog_note_quiet(struct st_codelog *log, const uint64_t *entered, size_t n,
                                   struct st_error *e);

struct st_contextlog_known;
/* Reads the log: it has been checked by st_contextlog_begin. NULL and *e on failure. */
struct st_contextlog_known *st_contextlog_known_read(struct st_codelog *log, struct st_error *e);
void st_contextlog_known_free(struct st_contextlog_known *known);
/* The number of complete contexts that are not below complete ones. */
size_t st_contextlog_known_complete(const struct st_contextlog_known *known);
/* The number of an image by its build-id, and of a function in it, 0: the log does not have it. */
int64_t st_contextlog_known_image(const struct st_contextlog_known *known, const char *build_id);
uint32_t st_contextlog_known_function(const struct st_contextlog_known *known, int64_t image,
                                      uint64_t offset);
/* Puts what the runtime has to know where it finds it. */
void st_contextlog_known_tell(const struct st_contextlog_known *known,
                              struct st_results_header *results);

#endif
