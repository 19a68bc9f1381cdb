/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forecasts for several functions that become faster, from the kept virtual speed-ups of each of
 * them. Between two speed-ups that were measured, the gain is a straight line. The gains of several
 * functions are added: that is right if none calls another one and if the program waits for one
 * after the other. The ends of the intervals are added too, since all gains have the same runs
 * without a speed-up.
 */
#ifndef STROBE_BLOW_WHAT_IF_H
#define STROBE_BLOW_WHAT_IF_H

#include "base/error.h"
#include "blow/progress.h"

/* "FUNCTION=PERCENT%" */
struct st_blow_wish {
	const char *name; /* in the text */
	size_t length;
	double percent;    /* more than 0, at most 100 */
	uint32_t function; /* set by st_blow_wishes_find */
};
struct st_blow_wishes {
	ST_VEC(struct st_blow_wish) list;
};
/* Reads wishes with commas between them. The text must outlive them. -1 with *e. The caller frees
 * list.v in any case. */
st_status st_blow_wishes_parse(struct st_blow_wishes *w, const char *text, struct st_error *e);
/* Finds the functions in the campaign. -1 with *e: one was not tried, or is named twice. */
st_status st_blow_wishes_find(struct st_blow_wishes *w, const struct st_blow *b,
                              struct st_error *e);

enum st_blow_forecast_state {
	ST_BLOW_FORECAST_MEASURED,     /* that speed-up was tried */
	ST_BLOW_FORECAST_BETWEEN,      /* between two speed-ups that were tried */
	ST_BLOW_FORECAST_NOT_MEASURED, /* no speed-up as great as that was tried */
	ST_BLOW_FORECAST_NOISY,        /* the measured gains say nothing */
	ST_BLOW_FORECAST_ABOVE_ALL,    /* the gains add up to the whole time or more */
};
struct st_blow_forecast {
	enum st_blow_forecast_state state;
	double at, low, high; /* gain at the point; NAN if it is not known */
};
/* -1: memory is exhausted. */
st_status st_blow_forecast_one(const struct st_blow *b, uint32_t point,
                               const struct st_blow_wish *wish, struct st_blow_forecast *out);
st_status st_blow_forecast_all(const struct st_blow *b, uint32_t point,
                               const struct st_blow_wishes *w, struct st_blow_forecast *out);

#endif
