/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/on.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "campaign/workers.h"

static st_status
on_lease(const char *value, double *lease, struct st_error *e)
{
	if (st_parse_time(value, lease) || *lease < 1)
		return st_fail(e, ST_EXIT_USAGE,
		               "--lease takes a time of a second or more, such as 60s, not '%s'",
		               value);
	return ST_OK;
}

static st_status
on_noise(const char *value, double *noise, struct st_error *e)
{
	const char *end;
	double percent;
	if (st_parse_real(value, &percent, &end) || *end || !(percent >= 0) || percent > 1e6)
		return st_fail(e, ST_EXIT_USAGE,
		               "--noise takes percents, such as 5, or 0 for no calibration, not "
		               "'%s'",
		               value);
	*noise = percent / 100;
	return ST_OK;
}

st_status
st_on_take(struct st_batch_place *p, const char *option, const char *value, struct st_error *e)
{
	struct st_workers_place place;
	if (!strcmp(option, "on")) {
		p->on = value;
		return st_workers_place_read(&place, value, e);
	}
	if (!strcmp(option, "campaign")) {
		p->campaign = value;
		return ST_OK;
	}
	if (!strcmp(option, "lease")) {
		p->lease_set = true;
		return on_lease(value, &p->lease, e);
	}
	p->noise_set = true;
	return on_noise(value, &p->noise, e);
}

st_status
st_on_check(const struct st_batch_place *p, struct st_error *e)
{
	const char *alone = p->campaign    ? "campaign"
	                    : p->lease_set ? "lease"
	                    : p->noise_set ? "noise"
	                                   : NULL;
	return alone && !p->on ? st_fail(e, ST_EXIT_USAGE,
	                                 "--%s is for workers: add --on local or --on slurm", alone)
	                       : ST_OK;
}

char **
st_on_experiment(const char *strobe, const char *tool, char *const *argv, char *const *program,
                 const char *const *further, size_t *at)
{
	size_t own = (size_t)(program - argv), words = 0, added = 0;
	own -= own && !strcmp(argv[own - 1], "--");
	while (program[words])
		words++;
	while (further[added])
		added++;
	const char **all = calloc(own + words + added + 4, sizeof *all);
	if (!all)
		return NULL;
	all[0] = strobe;
	all[1] = tool;
	for (size_t i = 0; i < own; i++)
		all[2 + i] = argv[i];
	*at = 2 + own;
	for (size_t i = 0; i < added; i++)
		all[*at + i] = further[i];
	all[*at + added] = "--";
	for (size_t i = 0; i < words; i++)
		all[*at + added + 1 + i] = program[i];
	return (char **)all;
}

void
st_on_say_resume(const char *folder, bool quiet)
{
	if (folder && !quiet)
		fprintf(stderr,
		        "strobe: all measurements are kept; to go on: strobe campaign resume %s\n",
		        folder);
}
