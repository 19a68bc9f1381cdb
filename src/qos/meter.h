/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mean of a source over an interval of time. The source is asked at both ends of the interval,
 * so the rate of what a source counts (lines of a log, bytes of a file, a counter of a server) is
 * exact for the interval. Of a source that gives a value by itself, it is the one at the end.
 */
#ifndef STROBE_QOS_METER_H
#define STROBE_QOS_METER_H

#include <stdbool.h>

#include "base/error.h"

struct st_qos_meter;

/* source: as for --qos. option: begins messages in place of --qos. NULL with *e: it is none, or
 * cannot be had. */
struct st_qos_meter *st_qos_meter_open(const char *source, const char *option, struct st_error *e);
void st_qos_meter_begin(struct st_qos_meter *m);
/* The value since st_qos_meter_begin. False: there is none. */
bool st_qos_meter_end(struct st_qos_meter *m, double *value);
/* Why there was no value: half a sentence. Valid until the next call. */
const char *st_qos_meter_why(const struct st_qos_meter *m);
void st_qos_meter_free(struct st_qos_meter *m);

#endif
