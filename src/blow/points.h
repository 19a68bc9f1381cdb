/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The progress points that the user has named (progress.h). A point that is no function, such as a
 * metric, has an entry in the list of functions all the same, so that its values are kept as
 * samples. Such an entry has no image and comes after all functions.
 */
#ifndef STROBE_BLOW_POINTS_H
#define STROBE_BLOW_POINTS_H

#include "blow/blow.h"
#include "session/region.h"

struct st_qos_meter;

/* A metric of the program, whose value is an amount of work per second. */
struct st_blow_source {
	char *name; /* as the user has named it; owned */
	struct st_qos_meter *meter;
};
/* The latency of requests, which begin with the entries of functions and end with the returns of
 * others, or, if it is the `same` function, are its calls. The functions that end it are progress
 * points, too. */
struct st_blow_latency {
	char *name; /* "latency of f", "latency from f to g"; owned */
	struct st_patterns begin, end;
	bool same; /* `end` has no patterns */
};
struct st_blow_points {
	struct st_patterns calls; /* functions whose calls are the work */
	ST_VEC(struct st_blow_latency) latencies;
	ST_VEC(struct st_blow_source) sources;
	bool automatic;       /* Strobe looks for some: infer.h */
	ST_VEC(char *) sites; /* "usdt:PROVIDER:NAME", or lines, "FILE:LINE"; owned */
};

#define ST_BLOW_SITE_PREFIX "usdt:"
/* Prefix of the name of a metric, and the factor by which work is multiplied in "calls". */
#define ST_BLOW_SOURCE_PREFIX "qos:"
enum { ST_BLOW_SOURCE_UNIT = 1000000 };

/* Whether a site is a line, and no static probe. */
bool st_blow_site_is_line(const char *site);
/* Adds what --progress names: functions, "qos:SOURCE", "usdt:PROVIDER:NAME", "FILE:LINE" or "auto".
 * 0, or -1 with *e. */
st_status st_blow_points_add(struct st_blow_points *p, const char *value, struct st_error *e);
/* Whether there is none. NULL: so. */
bool st_blow_points_empty(const struct st_blow_points *p);
void st_blow_points_free(struct st_blow_points *p);

/* What the function of these names is as a progress point. */
enum st_blow_point_kind st_blow_points_function(const struct st_blow_points *p, const char *name,
                                                const char *raw_name);
/* What the entry of the list of functions is. */
enum st_blow_point_kind st_blow_points_kind(const struct st_blow_points *p,
                                            const struct st_blow_function *f);
/* Adds the points that are no functions to the list of functions. -1: memory is exhausted. */
st_status st_blow_points_list(const struct st_blow_points *p, struct st_blow *b);

/* Whether the metrics have values since st_blow_sources_begin. -1 with *e: one has none. */
st_status st_blow_sources_check(const struct st_blow_points *p, struct st_error *e);
/* A window begins for the metrics. */
void st_blow_sources_begin(const struct st_blow_points *p);
/* It has ended: adds a sample for each metric that has a value, whose pauses are paid_ns. -1:
 * memory is exhausted. */
st_status st_blow_sources_end(const struct st_blow_points *p, const struct st_blow *b,
                              uint64_t paid_ns, struct st_blow_run *run);

#endif
