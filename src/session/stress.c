/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/stress.h"

#include <string.h>

#include "wire/plan.h"

static const struct {
	const char *name;
	uint32_t bit;
} stresses[] = {
#define ST_STRESS(name, bit, text) {#name, bit},
        ST_STRESSES(ST_STRESS)
#undef ST_STRESS
};

st_status
st_stress_parse(const char *list, uint32_t *bits, struct st_error *e)
{
	while (*list) {
		size_t n = strcspn(list, ","), i = 0, count = sizeof stresses / sizeof *stresses;
		while (i < count &&
		       (strlen(stresses[i].name) != n || strncmp(stresses[i].name, list, n)))
			i++;
		if (i == count)
			return st_fail(e, ST_EXIT_USAGE,
			               "unknown stress mode '%.*s'; man strobe-run lists them",
			               (int)n, list);
		*bits |= stresses[i].bit;
		list += n + (list[n] == ',');
	}
	return 0;
}
