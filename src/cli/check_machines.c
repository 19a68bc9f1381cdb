/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the profiles of a check were measured under the same conditions. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/check.h"
#include "store/traits.h"

/* Compares the machine of a profile with that of the first one, which it remembers. */
static st_status
compare_machine(const struct st_profile *p, char **first, char **differences)
{
	struct st_traits t;
	st_status status = st_traits_of(&t, p, "");
	if (!status && !*first)
		status = (*first = strdup(t.machine)) ? ST_OK : ST_FAILED;
	else if (!status)
		*differences = st_traits_differences(*first, t.machine, " and ");
	st_traits_free(&t);
	return status;
}

st_status
st_check_machines(const struct st_check_group *g, char **differences, struct st_error *e)
{
	char *first = NULL;
	st_status status = ST_OK;
	*differences = NULL;
	for (int side = 0; side < ST_SIDES; side++)
		for (size_t i = 0; i < g->profiles[side].n && !status && !*differences; i++)
			status = compare_machine(g->profiles[side].v[i], &first, differences);
	free(first);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left to compare the machines")
	              : ST_OK;
}
