/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show_restrict.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/restrict.h"

/* A number is a process's ID, everything else a name or shell pattern of its program. */
static bool
show_is_process(const struct st_profile_process *p, const char *wanted)
{
	if (wanted[strspn(wanted, "0123456789")])
		return !fnmatch(wanted, st_base_name(p->command), 0) || !strcmp(wanted, p->command);
	return p->pid == strtoll(wanted, NULL, 10);
}

static st_status
show_choose_processes(struct st_profile *p, const char *wanted, struct st_error *e)
{
	bool *chosen = calloc(p->processes.n + 1, sizeof *chosen), any = false;
	if (!chosen)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to choose processes");
	for (size_t i = 0; i < p->processes.n; i++)
		any |= chosen[i] = show_is_process(&p->processes.v[i], wanted);
	const st_status status =
	        any ? st_profile_restrict_processes(p, chosen, e)
	            : st_fail(e, ST_EXIT_USAGE,
	                      "the profile has no process '%s'; strobe show --table processes "
	                      "lists them",
	                      wanted);
	free(chosen);
	return status;
}

st_status
st_show_restrict(struct st_profile *p, const char *process, bool hide_loader, struct st_error *e)
{
	if (process && show_choose_processes(p, process, e))
		return ST_FAILED;
	return hide_loader ? st_profile_restrict_loader(p, e) : ST_OK;
}
