/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of strobe blow that choose functions, and the files that they name. */
#include <stdlib.h>
#include <string.h>

#include "annotate/filetext.h"
#include "base/parse.h"
#include "cli/blow.h"
#include "session/region.h"

void
st_blow_add_criterion(struct st_blow_arguments *a, enum st_blow_criterion which)
{
	a->added |= 1u << which;
	a->has_criteria = true;
}

/* False: there is no such criterion. */
static bool
take_named_criterion(struct st_blow_arguments *a, const char *name)
{
	for (int i = 0; i < ST_BLOW_CRITERION_COUNT; i++)
		if (!strcmp(st_blow_criterion_name((enum st_blow_criterion)i), name)) {
			a->options.criteria.which |= 1u << i;
			return true;
		}
	return false;
}

st_status
st_blow_take_criteria(struct st_blow_arguments *a, const char *value, struct st_error *e)
{
	char *copy = strdup(value), *rest = copy;
	st_status status = copy ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left");
	a->options.criteria.which = 0;
	a->has_criteria = true;
	for (char *word; !status && (word = strsep(&rest, ","));)
		if (!take_named_criterion(a, word))
			status = st_fail(e, ST_EXIT_USAGE,
			                 "--criteria takes calls, time, call-sites, complexity, io "
			                 "and locks, with commas between them, not '%s'",
			                 word);
	free(copy);
	return status;
}

/* ---- the file of --corpus ---- */

/* Removes blanks at both ends. */
static char *
trim_line(char *line)
{
	line += strspn(line, " \t\r");
	for (char *end = line + strlen(line); end > line && strchr(" \t\r", end[-1]);)
		*--end = '\0';
	return line;
}

/* A name with brackets, such as operator[], is taken literally; one with * or ? is a pattern. */
static st_status
add_corpus_line(struct st_blow_arguments *a, char *line, struct st_error *e)
{
	struct st_patterns *names = &a->session.region.functions;
	line = trim_line(line);
	if (!*line || *line == '#')
		return ST_OK;
	return strpbrk(line, "*?") || *line == '@' ? st_patterns_add(names, "corpus", line, e)
	                                           : st_patterns_add_path(names, "corpus", line, e);
}

static st_status
read_corpus_file(struct st_blow_arguments *a, struct st_error *e)
{
	char *text = NULL;
	size_t n, before = a->session.region.functions.n;
	if (st_ann_file_text(a->corpus, "names of functions", &text, &n, e))
		return ST_FAILED;
	st_status status = memchr(text, 0, n) ? st_fail(e, ST_EXIT_USAGE,
	                                                "%s is no text: --corpus takes a file with "
	                                                "the name of a function in each line",
	                                                a->corpus)
	                                      : ST_OK;
	char *rest = text;
	for (char *line; !status && (line = strsep(&rest, "\n"));)
		status = add_corpus_line(a, line, e);
	free(text);
	if (!status && a->session.region.functions.n == before)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s names no function: --corpus takes a file with the name of a "
		               "function in each line",
		               a->corpus);
	a->options.how.names_exist = true;
	a->options.how.first_name = before;
	return status;
}

/* ---- the file of --complexity ---- */

static bool
has_names(const struct st_ann_expr *expression)
{
	return expression && (expression->op == ST_ANN_NAME || has_names(expression->a) ||
	                      has_names(expression->b));
}

/* Whether the cost does not depend on any feature. */
static bool
is_constant_cost(const struct st_ann_annotation *a)
{
	for (size_t i = 0; i < a->scopes.n; i++) {
		const struct st_ann_scope *scope = &a->scopes.v[i];
		if (has_names(scope->condition))
			return false;
		for (size_t k = 0; k < scope->models.n; k++)
			if (has_names(scope->models.v[k].a) || has_names(scope->models.v[k].b))
				return false;
	}
	return true;
}

static st_status
read_models(struct st_blow_arguments *a, struct st_error *e)
{
	if (st_ann_read(a->models_file, &a->models, e))
		return ST_FAILED;
	for (size_t i = 0; i < a->models.list.n; i++) {
		const struct st_ann_annotation *model = &a->models.list.v[i];
		struct st_blow_complexity *slot = ST_PUSH(&a->complexities);
		if (!slot)
			return st_fail(e, ST_EXIT_FAILED, "no memory left");
		*slot = (struct st_blow_complexity){model->function, is_constant_cost(model)};
	}
	a->options.criteria.models.v = a->complexities.v;
	a->options.criteria.models.n = a->complexities.n;
	return ST_OK;
}

st_status
st_blow_read_corpus(struct st_blow_arguments *a, struct st_error *e)
{
	if (a->corpus && read_corpus_file(a, e))
		return ST_FAILED;
	if (a->models_file && read_models(a, e))
		return ST_FAILED;
	a->options.criteria.which |= a->added;
	a->options.how.reads_code = st_blow_criteria_read_code(a->options.criteria.which);
	return ST_OK;
}
