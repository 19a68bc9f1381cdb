/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gate/search.h"

const char *const st_bisect_states[] = {
#define S(id, name) name,
        ST_BISECT_STATES(S)
#undef S
};

/* The commit in [from, to) that is not judged yet and nearest to the middle; to: there is none. */
static size_t
search_nearest(const enum st_bisect_state *states, size_t from, size_t to)
{
	const size_t middle = from + (to - from) / 2;
	for (size_t away = 0; away <= to - from; away++) {
		if (middle + away < to && states[middle + away] == ST_BISECT_UNKNOWN)
			return middle + away;
		if (middle >= from + away && middle - away < to &&
		    states[middle - away] == ST_BISECT_UNKNOWN)
			return middle - away;
	}
	return to;
}

st_status
st_bisect_search(size_t n, st_bisect_judge judge, void *arg, enum st_bisect_state *states,
                 size_t *first, size_t *last, struct st_error *e)
{
	*first = 0;
	*last = n - 1;
	states[n - 1] = ST_BISECT_BAD;
	for (;;) {
		const size_t i = search_nearest(states, *first, *last);
		if (i == *last)
			return ST_OK;
		if (judge(arg, i, &states[i], e))
			return ST_FAILED;
		if (states[i] == ST_BISECT_GOOD)
			*first = i + 1;
		else if (states[i] == ST_BISECT_BAD)
			*last = i;
	}
}
