/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a campaign that goes on: what is done and left, and the best functions so far. */
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "report/blow.h"
#include "report/json.h"

/* The number by which functions are sorted; NAN: it is not known yet. */
static st_status
measure_of_row(const struct st_blow *b, const struct st_blow_row *row, struct st_blow_best *out)
{
	const struct st_blow_slope *s = &row->finding.slope;
	*out = (struct st_blow_best){row->function, NAN, NAN, NAN};
	if (b->speedup) {
		out->value = st_blow_shown_fitness(&row->finding);
	} else if (!b->causal && !s->state) {
		*out = (struct st_blow_best){row->function, s->at, s->low, s->high};
	} else if (b->causal) {
		const uint32_t point = st_blow_point_at(b, 0);
		struct st_blow_gain g;
		if (st_blow_find_gain(b, point, row->function, 100, &g))
			return ST_FAILED;
		g = st_blow_point_gain(b, point, g);
		*out = (struct st_blow_best){row->function, g.at, g.low, g.high};
	}
	return ST_OK;
}

size_t
st_blow_best_rows(const struct st_blow *b, struct st_blow_best *out)
{
	struct st_blow_rows rows;
	size_t n = 0;
	st_status status = st_blow_order(b, ST_BLOW_BY_SLOPE, &rows);
	for (size_t i = 0; i < rows.list.n && n < ST_BLOW_BEST && !status; i++) {
		status = measure_of_row(b, &rows.list.v[i], &out[n]);
		n += !status && !isnan(out[n].value);
	}
	free(rows.list.v);
	return n;
}

static void
print_best(const struct st_blow *b, const struct st_blow_best *best, FILE *out)
{
	const double unit = b->causal ? 100 : 1;
	const char *sign = b->causal ? " %" : "";
	const int digits = b->causal ? 1 : 3;
	fprintf(out, "%s %.*f%s", b->functions.v[best->function].name, digits, best->value * unit,
	        sign);
	if (!isnan(best->low) && !isnan(best->high))
		fprintf(out, " (%.*f to %.*f)", digits, best->low * unit, digits,
		        best->high * unit);
}

void
st_blow_state_print(const struct st_blow *b, const struct st_blow_state *s,
                    const struct st_blow_best *best, size_t n, FILE *out)
{
	fprintf(out, "%s, %s left", ST_COUNT(s->done, "experiment", "experiments"),
	        ST_NUMBER(s->left));
	if (!isnan(s->seconds_left))
		fprintf(out, ", %.0f s left", s->seconds_left);
	fprintf(out, ": %s",
	        s->next == ST_BLOW_NONE ? "without noise" : b->functions.v[s->next].name);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : "; best: ", out);
		print_best(b, &best[i], out);
	}
}

/* Takes the value over, as json_object_set_new does. */
#define SET(object, key, value) bad |= json_object_set_new(object, key, value)

json_t *
st_blow_state_json(const struct st_blow *b, const struct st_blow_state *s,
                   const struct st_blow_best *best, size_t n)
{
	json_t *out = json_object(), *strobe = json_object(), *list = json_array();
	int bad = 0;
	SET(strobe, "version", json_integer(ST_JSON_VERSION));
	SET(strobe, "tool", json_string(ST_BLOW_TOOL));
	SET(out, "strobe", strobe);
	SET(out, "mode", json_string(st_blow_mode(b)));
	SET(out, "ended", json_boolean(s->ended));
	SET(out, "done", st_json_count(s->done));
	SET(out, "left", st_json_count(s->left));
	SET(out, "seconds_left", st_json_real(s->seconds_left));
	SET(out, "next",
	    s->next == ST_BLOW_NONE ? json_null() : st_json_text(b->functions.v[s->next].name));
	SET(out, "best", list);
	for (size_t i = 0; i < n; i++) {
		json_t *row = json_object();
		SET(row, "function", st_json_text(b->functions.v[best[i].function].name));
		SET(row, "value", st_json_real(best[i].value));
		SET(row, "lo", st_json_real(best[i].low));
		SET(row, "hi", st_json_real(best[i].high));
		bad |= json_array_append_new(list, row);
	}
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}
