/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

enum { MOST_VARIANTS = 10000000 };

static const char place_of_workload[] = "{workload}";

static st_status
plan_add(struct st_job_plan *p, const struct st_job_variant *variant, struct st_error *e)
{
	struct st_job_variant *slot = ST_PUSH(&p->v);
	if (!slot)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the runs of the job");
	*slot = *variant;
	return ST_OK;
}

/* Adds the variants of a command with its arguments. Without workloads, there is one. */
static st_status
plan_add_all(struct st_job_plan *p, const struct st_job *j, struct st_job_variant v,
             struct st_error *e)
{
	size_t workloads = p->workloads.v.n;
	for (size_t w = 0; w < (workloads ? workloads : 1); w++)
		for (size_t c = 0; c < j->collectors.n; c++) {
			v.workload = workloads ? &p->workloads.v.v[w] : NULL;
			v.collector = &j->collectors.v[c];
			if (plan_add(p, &v, e))
				return ST_FAILED;
		}
	return ST_OK;
}

st_status
st_job_plan_make(struct st_job_plan *p, const struct st_job *j, const char *folder,
                 const char *root, struct st_error *e)
{
	size_t sets = j->arguments.n ? j->arguments.n : 1;
	*p = (struct st_job_plan){0};
	if (st_workloads_make(&p->workloads, j, folder, root, e))
		return ST_FAILED;
	size_t workloads = p->workloads.v.n ? p->workloads.v.n : 1;
	if ((double)j->commands.n * (double)sets * (double)workloads * (double)j->collectors.n >
	    MOST_VARIANTS)
		return st_fail(e, ST_EXIT_USAGE, "%s has more than %s combinations", j->yaml.path,
		               ST_NUMBER(MOST_VARIANTS));
	for (size_t c = 0; c < j->commands.n; c++)
		for (size_t a = 0; a < sets; a++) {
			const struct st_job_variant v = {
			        .command = j->commands.v[c],
			        .arguments = j->arguments.n ? j->arguments.v[a] : "",
			};
			if (plan_add_all(p, j, v, e))
				return ST_FAILED;
		}
	return ST_OK;
}

void
st_job_plan_free(struct st_job_plan *p)
{
	st_workloads_free(&p->workloads);
	free(p->v.v);
	*p = (struct st_job_plan){0};
}

/* ---- the command line ---- */

struct command_line {
	char **words;
	size_t n, bytes;
};

static void
line_count(struct command_line *l, const char *word, const char *workload, bool *placed)
{
	size_t length = strlen(word) + 1;
	for (const char *at = word; workload && (at = strstr(at, place_of_workload));
	     at += sizeof place_of_workload - 1) {
		length += strlen(workload);
		*placed = true;
	}
	l->n++;
	l->bytes += length;
}

/* The word with the workload in its place. Returns where the next one goes. */
static char *
line_put(char *out, const char *word, const char *workload)
{
	for (const char *at; workload && (at = strstr(word, place_of_workload));) {
		out = mempcpy(out, word, (size_t)(at - word));
		out = stpcpy(out, workload);
		word = at + sizeof place_of_workload - 1;
	}
	return stpcpy(out, word) + 1;
}

static char **
line_build(const struct command_line *l, char *const *command, char *const *arguments,
           const char *workload, bool append)
{
	char **words = malloc((l->n + 1) * sizeof *words + l->bytes);
	if (!words)
		return NULL;
	char *out = (char *)(words + l->n + 1);
	size_t n = 0;
	for (; *command; command++) {
		words[n++] = out;
		out = line_put(out, *command, workload);
	}
	for (; *arguments; arguments++) {
		words[n++] = out;
		out = line_put(out, *arguments, workload);
	}
	if (append) {
		words[n++] = out;
		strcpy(out, workload);
	}
	words[n] = NULL;
	return words;
}

char **
st_job_variant_argv(const struct st_job_variant *v)
{
	char **command = st_job_words(v->command), **arguments = st_job_words(v->arguments);
	const char *workload = v->workload ? v->workload->argument : NULL;
	struct command_line l = {0};
	bool placed = false;
	char **words = NULL;
	if (command && arguments) {
		for (char **w = command; *w; w++)
			line_count(&l, *w, workload, &placed);
		for (char **w = arguments; *w; w++)
			line_count(&l, *w, workload, &placed);
		bool append = workload && !placed && !v->workload->to_stdin;
		if (append) {
			l.n++;
			l.bytes += strlen(workload) + 1;
		}
		words = line_build(&l, command, arguments, workload, append);
	}
	free(command);
	free(arguments);
	return words;
}

char *
st_job_variant_title(const struct st_job_variant *v)
{
	const struct st_job_collector *c = v->collector;
	return st_text_of("%s%s%s of %s%s%s%s%s", c->name, *c->options ? " " : "", c->options,
	                  v->command, *v->arguments ? " " : "", v->arguments,
	                  v->workload ? ", " : "", v->workload ? v->workload->name : "");
}
