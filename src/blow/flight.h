/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The latency of requests by Little's law: the mean number of requests in flight, divided by the
 * number that end per second. It holds whichever threads begin and end the requests, and in
 * whichever order.
 *
 * A virtual speed-up takes time away from all requests that are in flight while the function runs:
 * as much for each of them as the function saves (debt.h). If a request begins and ends in the
 * same call of one function, its latency is the duration of the call, less the debt that the thread
 * has paid during the call.
 */
#ifndef STROBE_BLOW_FLIGHT_H
#define STROBE_BLOW_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Probes of one pattern, of which there are several if it fits several functions, or if a file is
 * mapped more than once. */
enum { ST_FLIGHT_PROBES = 16 };
struct st_flight_probes {
	uint32_t v[ST_FLIGHT_PROBES];
	uint32_t n; /* atomic: probes are added while the program runs */
};
/* Further probes than there is space for are left out: false. */
bool st_flight_add(struct st_flight_probes *p, uint32_t number);

struct st_flight {
	struct st_flight_probes begins, ends;
	bool same; /* a request is a call of the functions in `begins` */
	/* Sums since st_flight_begin, in seconds over all requests. */
	double seconds; /* in flight; of `same`, the caller knows it from the calls */
	double saved;   /* by the virtual speed-up */
	/* Requests that began before the probes were there end without a begin. */
	int64_t least, last;
	bool has_last;
};

/* Resets the sums. Requests that are in flight remain in flight. */
void st_flight_begin(struct st_flight *f);
/* `seconds` have passed, and the debt of a thread that pays nothing has grown by `saved`. begun,
 * ended: requests until now. */
void st_flight_tick(struct st_flight *f, uint64_t begun, uint64_t ended, double seconds,
                    double saved);

#endif
