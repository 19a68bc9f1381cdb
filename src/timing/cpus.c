/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of CPUs as users write them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "timing/timing.h"

static st_status
bad_cpus(const char *list, struct st_error *e)
{
	return st_fail(e, ST_EXIT_USAGE, "--cpu takes numbers of CPUs such as 0,2-4, not '%s'",
	               list);
}

/* "2" or "2-4". */
static st_status
take_cpus(char *word, cpu_set_t *cpus)
{
	long first, last;
	char *dash = strchr(word, '-');
	if (dash)
		*dash = '\0';
	if (st_parse_between(word, 0, CPU_SETSIZE - 1, &first) ||
	    st_parse_between(dash ? dash + 1 : word, first, CPU_SETSIZE - 1, &last))
		return ST_FAILED;
	for (long cpu = first; cpu <= last; cpu++)
		CPU_SET((size_t)cpu, cpus);
	return ST_OK;
}

st_status
st_timing_cpus(const char *list, cpu_set_t *cpus, struct st_error *e)
{
	char *copy = strdup(list), *rest = copy;
	cpu_set_t allowed;
	st_status status = copy ? ST_OK : ST_FAILED;
	CPU_ZERO(cpus);
	for (char *word; !status && (word = strsep(&rest, ","));)
		status = take_cpus(word, cpus);
	free(copy);
	if (status)
		return bad_cpus(list, e);
	if (sched_getaffinity(0, sizeof allowed, &allowed))
		return st_fail(e, ST_EXIT_FAILED, "cannot read which CPUs may be used: %s",
		               strerror(errno));
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus) && !CPU_ISSET(cpu, &allowed))
			return st_fail(e, ST_EXIT_USAGE,
			               "strobe may not use CPU %zu; nproc and taskset -p $$ say "
			               "which CPUs there are",
			               cpu);
	return 0;
}
