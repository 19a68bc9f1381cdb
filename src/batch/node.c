/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "profile/profile.h"
#include "store/traits.h"
#include "timing/timing.h"

char *
st_node_machine(void)
{
	struct st_profile *profile = st_profile_new();
	struct st_traits traits = {0};
	char *machine = NULL;
	if (profile) {
		profile->run.tool = "";
		st_collect_machine(profile);
	}
	if (profile && !st_traits_of(&traits, profile, "")) {
		machine = traits.machine;
		traits.machine = NULL;
	}
	st_traits_free(&traits);
	st_profile_free(profile);
	return machine;
}

static void
node_take_fact(struct st_profile *p, const char *name, const char *value)
{
	for (size_t i = 0; i < p->run.facts.n; i++)
		if (!strcmp(p->run.facts.v[i].name, name)) {
			p->run.facts.v[i].value = st_profile_text(p, value);
			return;
		}
	st_profile_add_fact(p, name, value);
}

/* The variables of the environment are those of the command, which the workers have, too. */
static void
node_take_line(struct st_profile *p, const char *name, const char *value)
{
	struct st_profile_run *r = &p->run;
	if (!strcmp(name, "cpu"))
		r->cpu = st_profile_text(p, value);
	else if (!strcmp(name, "architecture"))
		r->machine = st_profile_text(p, value);
	else if (!strcmp(name, "kernel"))
		r->kernel = st_profile_text(p, value);
	else if (!strcmp(name, "cores"))
		r->cores = strtoll(value, NULL, 10);
	else if (strcmp(name, "environment") != 0)
		node_take_fact(p, name, value);
}

void
st_node_take_machine(struct st_profile *p, const char *machine)
{
	char *copy = strdup(machine), *rest = copy;
	p->out_of_memory |= !copy;
	for (char *line; copy && (line = strsep(&rest, "\n"));) {
		char *equals = strchr(line, '=');
		if (!equals)
			continue;
		*equals = '\0';
		node_take_line(p, line, equals + 1);
	}
	free(copy);
}

st_status
st_node_pin(int cpu, cpu_set_t *cpus, struct st_error *e)
{
	char text[16];
	snprintf(text, sizeof text, "%d", cpu);
	if (st_timing_cpus(text, cpus, e))
		return ST_FAILED;
	if (sched_setaffinity(0, sizeof *cpus, cpus))
		return st_fail(e, ST_EXIT_FAILED, "cannot run on CPU %d: %s", cpu, strerror(errno));
	return ST_OK;
}

bool
st_node_is_cause(const char *message)
{
	static const int errors[] = {ENOSPC, EDQUOT, EIO, ESTALE};
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (strstr(message, strerror(errors[i])))
			return true;
	return false;
}
