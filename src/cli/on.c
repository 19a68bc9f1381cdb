/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/on.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/parse.h"
#include "base/text.h"
#include "campaign/workers.h"
#include "cli/commands.h"

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
on_noise(const char *option, const char *value, double *noise, struct st_error *e)
{
	const char *end;
	double percent;
	if (st_parse_real(value, &percent, &end) || *end || !(percent >= 0) || percent > 1e6)
		return st_fail(e, ST_EXIT_USAGE,
		               "--%s takes a percentage, such as 5, or 0 for no calibration, not "
		               "'%s'",
		               option, value);
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
	p->noise_set = option;
	return on_noise(option, value, &p->noise, e);
}

st_status
st_on_check(const struct st_batch_place *p, struct st_error *e)
{
	const char *alone = p->campaign ? "campaign" : p->lease_set ? "lease" : p->noise_set;
	return alone && !p->on ? st_fail(e, ST_EXIT_USAGE,
	                                 "--%s needs workers: add --on local or --on slurm", alone)
	                       : ST_OK;
}

char **
st_on_experiment(const char *strobe, const char *tool, char *const *argv, char *const *program,
                 const char *const *further, size_t *at)
{
	size_t own = 0, words = 0, added = 0;
	while (argv[own] && argv + own != program && strcmp(argv[own], "--") != 0)
		own++;
	while (program && program[words])
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
	if (program)
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
		        "strobe: all results are kept; to continue: strobe campaign resume %s\n",
		        folder);
}

st_status
st_on_strobe(char *path, size_t size, struct st_error *e)
{
	const ssize_t n = readlink("/proc/self/exe", path, size - 1);
	if (n < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot read /proc/self/exe: %s",
		               strerror(errno));
	path[n] = '\0';
	return ST_OK;
}

/* ---- identity ---- */

/* Whether an option has no effect on the results. In a command that has --node-noise, --noise is
 * another option. */
static bool
on_is_apart(const struct st_options *o, const char *option)
{
	static const char *const apart[] = {"on",     "campaign", "lease", "node-noise",
	                                    "format", "output",   "quiet"};
	for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
		if (!strcmp(option, apart[i]))
			return true;
	bool noise = !strcmp(option, "noise");
	for (size_t i = 0; i < o->n && noise; i++)
		noise = strcmp(o->options[i].name, "node-noise") != 0;
	return noise;
}

static json_t *
on_options(const char *command, char *const *argv)
{
	struct st_options o = st_command_options(command, argv);
	struct st_error e;
	const char *value;
	json_t *all = json_array();
	for (int option; (option = st_options_next(&o, &value, &e)) >= 0;)
		if (!on_is_apart(&o, o.options[option].name))
			json_array_append_new(all,
			                      json_pack("[s, s?]", o.options[option].name, value));
	return all;
}

char *
st_on_identity(const char *command, char *const *argv, char *const *program, json_t *more)
{
	char *here = realpath(".", NULL);
	json_t *all =
	        json_pack("[s, s, o, o, o]", command, here ? here : "", on_options(command, argv),
	                  program ? st_batch_command_identity(program, NULL) : json_null(), more);
	char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	free(here);
	return text;
}

/* ---- nodes ---- */

st_status
st_on_count(struct st_on_nodes *nodes, const char *worker)
{
	const char *dot = strrchr(worker, '.');
	size_t n = dot ? (size_t)(dot - worker) : strlen(worker);
	const char *before = memrchr(worker, '.', n);
	n = before ? (size_t)(before - worker) : n;
	for (size_t i = 0; i < nodes->list.n; i++)
		if (!strncmp(nodes->list.v[i].name, worker, n) && !nodes->list.v[i].name[n]) {
			nodes->list.v[i].runs++;
			return ST_OK;
		}
	char *name = strndup(worker, n);
	struct st_on_node *slot = name ? ST_PUSH(&nodes->list) : NULL;
	if (!slot) {
		free(name);
		return ST_FAILED;
	}
	*slot = (struct st_on_node){name, 1};
	return ST_OK;
}

char *
st_on_note(const struct st_on_nodes *nodes)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (!out)
		return NULL;
	fprintf(out, "the runs were made by workers on");
	for (size_t i = 0; i < nodes->list.n; i++)
		fprintf(out, "%s %s (%s)",
		        !i                       ? ""
		        : i + 1 == nodes->list.n ? " and"
		                                 : ",",
		        nodes->list.v[i].name, ST_NUMBER(nodes->list.v[i].runs));
	return st_text_end(&text);
}

void
st_on_nodes_free(struct st_on_nodes *nodes)
{
	for (size_t i = 0; i < nodes->list.n; i++)
		free(nodes->list.v[i].name);
	free(nodes->list.v);
	*nodes = (struct st_on_nodes){0};
}
