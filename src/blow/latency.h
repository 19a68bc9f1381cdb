/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latencies of a campaign: which probes begin and end requests, and the sample that a run gets. */
#ifndef STROBE_BLOW_LATENCY_H
#define STROBE_BLOW_LATENCY_H

#include "blow/flight.h"
#include "blow/points.h"

/* Adds the latency that --latency names: "FUNCTION" or "BEGIN,END". 0, or -1 with *e. */
st_status st_blow_latency_add(struct st_blow_points *p, const char *value, struct st_error *e);

/* A flight for each latency of the points; NULL: memory is exhausted. */
struct st_flight *st_blow_flights_new(const struct st_blow_points *p);
/* The function of these names has the probe of that number: adds it to the latencies that it
 * begins or ends. */
void st_blow_flights_probe(struct st_flight *flights, const struct st_blow_points *p,
                           const struct st_blow_function *f, uint32_t number);
/* Adds a sample for each latency to a run that has the samples of its functions. -1: memory is
 * exhausted. */
st_status st_blow_flights_end(const struct st_flight *flights, const struct st_blow_points *p,
                              const struct st_blow *b, struct st_blow_run *run);

/* The latency of a point of the kind ST_BLOW_LATENCY in runs without a speed-up. */
struct st_blow_mean_latency {
	size_t runs;
	double ns, sd;    /* the standard deviation is NAN with fewer than two runs */
	double in_flight; /* mean number of requests */
	double rate;      /* requests that end per second */
};
struct st_blow_mean_latency st_blow_latency_of(const struct st_blow *b, uint32_t point);

#endif
