/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The benchmarks of a gate. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "gate/project.h"

static st_status
cases_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the benchmarks");
}

/* Writes a word without the folder of generated workloads, whose path differs from clone to clone.
 */
static void
cases_put_word(const char *word, const char *folder, FILE *out)
{
	const char *at = folder ? strstr(word, folder) : NULL;
	const size_t n = folder ? strlen(folder) : 0;
	if (at && at[n] == '/')
		fprintf(out, "%.*s%s", (int)(at - word), word, at + n + 1);
	else
		fputs(word, out);
}

static char *
cases_title(char *const *argv, const char *folder)
{
	struct st_text t;
	FILE *out = st_text_begin(&t);
	for (size_t i = 0; out && argv[i]; i++) {
		if (i)
			fputc(' ', out);
		cases_put_word(argv[i], folder, out);
	}
	return st_text_end(&t);
}

/* Joins two lists of words in one malloc'ed piece. */
static char **
cases_join(char *const *a, char *const *b)
{
	char *const *const lists[] = {a, b};
	size_t n = 1, bytes = 0, at = 0;
	for (int i = 0; i < 2; i++)
		for (char *const *w = lists[i]; w && *w; w++) {
			n++;
			bytes += strlen(*w) + 1;
		}
	char **words = malloc(n * sizeof *words + bytes);
	char *text = (char *)(words + n);
	for (int i = 0; i < 2 && words; i++)
		for (char *const *w = lists[i]; w && *w; w++) {
			words[at++] = text;
			text = stpcpy(text, *w) + 1;
		}
	if (words)
		words[at] = NULL;
	return words;
}

/* workloads: the folder of generated ones; NULL: there are none. */
static st_status
cases_add(struct st_gate_cases *cases, const struct st_gate_case *filled, const char *workloads,
          struct st_error *e)
{
	struct st_gate_case *c = ST_PUSH(&cases->v);
	if (c)
		*c = *filled;
	else
		for (int side = 0; side < ST_GATE_SIDES; side++)
			free(filled->words[side]);
	if (!c || !c->words[ST_GATE_BASE] || !c->words[ST_GATE_TARGET])
		return cases_no_memory(e);
	c->title = cases_title(c->words[ST_GATE_TARGET], workloads);
	c->base_title = cases_title(c->words[ST_GATE_BASE], workloads);
	return c->title && c->base_title ? ST_OK : cases_no_memory(e);
}

/* A job has each benchmark once for each collector; those of the first collector are taken. */
static st_status
cases_add_variants(const struct st_gate_project *p, struct st_gate_cases *cases, struct st_error *e)
{
	for (size_t i = 0; i < p->plan.v.n; i++) {
		const struct st_job_variant *v = &p->plan.v.v[i];
		if (v->collector != &p->job.collectors.v[0])
			continue;
		const struct st_gate_case c = {
		        .words = {st_job_variant_argv(v), st_job_variant_argv(v)},
		        .input = v->workload && v->workload->to_stdin ? v->workload->argument
		                                                      : NULL};
		if (cases_add(cases, &c, p->workloads, e))
			return ST_FAILED;
	}
	return cases->v.n
	               ? ST_OK
	               : st_fail(e, ST_EXIT_FAILED, "the gate measured nothing: %s has no commands",
	                         p->job.yaml.path);
}

st_status
st_gate_project_cases(const struct st_gate_project *p, struct st_gate_cases *cases,
                      struct st_error *e)
{
	*cases = (struct st_gate_cases){0};
	if (!p->arguments || !*p->arguments)
		return cases_add_variants(p, cases, e);
	const struct st_gate_case c = {
	        .words = {cases_join(p->arguments, NULL), cases_join(p->arguments, NULL)}};
	return cases_add(cases, &c, NULL, e);
}

st_status
st_gate_command_case(const char *const commands[ST_GATE_SIDES], char *const *arguments,
                     struct st_gate_cases *cases, struct st_error *e)
{
	struct st_gate_case c = {0};
	st_status status = ST_OK;
	*cases = (struct st_gate_cases){0};
	for (int side = 0; side < ST_GATE_SIDES && !status; side++) {
		char **words = st_job_words(commands[side]);
		if (!words)
			status =
			        st_fail(e, ST_EXIT_USAGE,
			                "a quote of the command is not closed: %s", commands[side]);
		else if (!words[0])
			status = st_fail(e, ST_EXIT_USAGE,
			                 "the %s is an empty command: name a program",
			                 st_gate_sides[side]);
		else
			c.words[side] = cases_join(words, arguments);
		free(words);
	}
	if (!status)
		return cases_add(cases, &c, NULL, e);
	for (int side = 0; side < ST_GATE_SIDES; side++)
		free(c.words[side]);
	return status;
}

void
st_gate_cases_free(struct st_gate_cases *cases)
{
	for (size_t i = 0; i < cases->v.n; i++) {
		free(cases->v.v[i].title);
		free(cases->v.v[i].base_title);
		for (int side = 0; side < ST_GATE_SIDES; side++)
			free(cases->v.v[i].words[side]);
	}
	free(cases->v.v);
	*cases = (struct st_gate_cases){0};
}
