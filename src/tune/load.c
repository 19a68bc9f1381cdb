/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a study. Derived numbers are not read but computed again. */
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "base/parse.h"
#include "base/wholefile.h"
#include "tune/form.h"
#include "tune/study.h"

enum { MOST_WORDS = 4096 };

/* A study under way from its file; bad: the key that is missing or holds nonsense. */
struct loading {
	struct st_study *study;
	const char *bad;
};

static bool
load_refuse(struct loading *l, const char *key)
{
	if (!l->bad)
		l->bad = key;
	return false;
}

static bool
take_count(struct loading *l, const json_t *in, const char *key, uint64_t most, uint64_t *out)
{
	const json_t *value = json_object_get(in, key);
	json_int_t number = json_integer_value(value);
	if (!json_is_integer(value) || number < 0 || (uint64_t)number > most)
		return load_refuse(l, key);
	*out = (uint64_t)number;
	return true;
}

/* Greater than 0: all are divided by, or logarithms taken of. */
static bool
take_positive(struct loading *l, const json_t *in, const char *key, double *out)
{
	const json_t *value = json_object_get(in, key);
	*out = json_number_value(value);
	return json_is_number(value) && isfinite(*out) && *out > 0 && *out < 1e12
	               ? true
	               : load_refuse(l, key);
}

static bool
take_time(struct loading *l, const json_t *in, const char *key, struct st_study_time *out)
{
	const json_t *time = json_object_get(in, key);
	return take_positive(l, time, "seconds", &out->wall) &&
	       take_positive(l, time, "cpu_seconds", &out->cpu);
}

/* Growing numbers: no level twice. */
static bool
load_take_levels(struct loading *l, const json_t *root, const char *key, double most, double *out,
                 size_t *n)
{
	const json_t *levels = json_object_get(root, key);
	*n = json_array_size(levels);
	if (!*n || *n > ST_STUDY_LEVELS)
		return load_refuse(l, key);
	for (size_t i = 0; i < *n; i++) {
		const json_t *level = json_array_get(levels, i);
		out[i] = json_number_value(level);
		if (!json_is_number(level) || !(out[i] > (i ? out[i - 1] : 0)) || !(out[i] <= most))
			return load_refuse(l, key);
	}
	return true;
}

static bool
take_command(struct loading *l, const json_t *words, char **argv)
{
	size_t n = json_array_size(words);
	if (!n || n >= MOST_WORDS)
		return load_refuse(l, "command");
	for (size_t i = 0; i < n; i++) {
		argv[i] = (char *)json_string_value(json_array_get(words, i));
		if (!argv[i])
			return load_refuse(l, "command");
	}
	argv[n] = NULL;
	return true;
}

static bool
take_program(struct loading *l, const json_t *in)
{
	char *argv[MOST_WORDS];
	uint64_t exit_code;
	if (!take_command(l, json_object_get(in, "command"), argv) ||
	    !take_count(l, in, "exit", 255, &exit_code))
		return false;
	struct st_study_program *p = st_study_add_program(l->study, argv);
	if (!p)
		return load_refuse(l, "command");
	p->exit_code = (int)exit_code;
	if (!take_time(l, in, "native", &p->native) ||
	    !take_time(l, in, "measured", &p->measured) ||
	    !take_count(l, in, "instructions", INT64_MAX, &p->instructions) ||
	    !take_count(l, in, "raw_instructions", INT64_MAX, &p->raw))
		return false;
	return p->instructions && p->raw ? true : load_refuse(l, "instructions");
}

/* The index of the level that the run had. */
static bool
take_level(struct loading *l, const json_t *in, const char *key, const double *levels, size_t n,
           size_t *out)
{
	double level;
	if (!take_positive(l, in, key, &level))
		return false;
	for (*out = 0; *out < n; ++*out)
		if (levels[*out] == level)
			return true;
	return load_refuse(l, key);
}

static bool
load_is_same(const struct st_study_pair *a, const struct st_study_pair *b)
{
	return a->repetition == b->repetition && a->program == b->program &&
	       a->budget == b->budget && a->period == b->period;
}

/* Repetitions follow each other, and each combination comes once in one. */
static bool
is_in_order(const struct st_study *s, const struct st_study_pair *last)
{
	size_t n = s->pairs.n, steps = st_study_steps(s);
	if (last->repetition != (n - 1) / steps)
		return false;
	for (size_t i = (n - 1) / steps * steps; i + 1 < n; i++)
		if (load_is_same(&s->pairs.v[i], last))
			return false;
	return true;
}

static bool
load_take_pair(struct loading *l, const json_t *in)
{
	struct st_study *s = l->study;
	struct st_study_pair *p = ST_PUSH(&s->pairs);
	uint64_t program, repetition;
	if (!p || !take_count(l, in, "program", s->programs.n - 1, &program) ||
	    !take_count(l, in, "repetition", s->repeat - 1, &repetition) ||
	    !take_level(l, in, "budget", s->budgets, s->n_budgets, &p->budget) ||
	    !take_level(l, in, "period", s->periods, s->n_periods, &p->period) ||
	    !take_time(l, in, "native", &p->native) ||
	    !take_time(l, in, "measured", &p->measured) ||
	    !take_count(l, in, "instructions", INT64_MAX, &p->instructions) ||
	    !take_count(l, in, "raw_instructions", INT64_MAX, &p->raw))
		return load_refuse(l, "runs");
	p->program = program;
	p->repetition = repetition;
	return is_in_order(s, p) ? true : load_refuse(l, "runs");
}

static bool
take_arrays(struct loading *l, const json_t *root)
{
	const json_t *programs = json_object_get(root, "programs"),
	             *runs = json_object_get(root, "runs");
	size_t n = json_array_size(programs);
	if (!n || n > ST_STUDY_PROGRAMS)
		return load_refuse(l, "programs");
	for (size_t i = 0; i < n; i++)
		if (!take_program(l, json_array_get(programs, i)))
			return false;
	for (size_t i = 0; i < json_array_size(runs); i++)
		if (!load_take_pair(l, json_array_get(runs, i)))
			return false;
	return true;
}

static bool
load_take_seed(struct loading *l, const json_t *root)
{
	const char *text = json_string_value(json_object_get(root, "seed"));
	return text && !st_parse_whole(text, &l->study->seed) ? true : load_refuse(l, "seed");
}

static bool
take_study(struct loading *l, const json_t *root)
{
	struct st_study *s = l->study;
	const char *tool = json_string_value(json_object_get(root, "tool")),
	           *policy = json_string_value(json_object_get(root, "policy"));
	const json_t *complete = json_object_get(root, "complete");
	uint64_t repeat;
	s->tool = tool ? strdup(tool) : NULL;
	s->policy = policy ? strdup(policy) : NULL;
	if (!s->tool || !s->policy)
		return load_refuse(l, s->tool ? "policy" : "tool");
	if (!json_is_boolean(complete))
		return load_refuse(l, "complete");
	s->complete = json_is_true(complete);
	if (!take_count(l, root, "repeat", ST_STUDY_REPEAT, &repeat) || !repeat)
		return load_refuse(l, "repeat");
	s->repeat = repeat;
	return load_take_seed(l, root) &&
	       load_take_levels(l, root, "budgets", 1, s->budgets, &s->n_budgets) &&
	       load_take_levels(l, root, "periods", 3600, s->periods, &s->n_periods) &&
	       take_arrays(l, root);
}

static st_status
take_root(struct st_study *s, const json_t *root, const char *path, struct st_error *e)
{
	struct loading l = {.study = s};
	const json_t *version = json_object_get(json_object_get(root, "strobe"), "study");
	if (!json_is_integer(version))
		return st_fail(e, ST_EXIT_FAILED, "%s is not a study of strobe tune", path);
	if (json_integer_value(version) != ST_STUDY_VERSION)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is of version %lld; this strobe reads version %d", path,
		               (long long)json_integer_value(version), ST_STUDY_VERSION);
	return take_study(&l, root)
	               ? 0
	               : st_fail(e, ST_EXIT_FAILED, "%s is damaged: its '%s' cannot be right", path,
	                         l.bad);
}

st_status
st_study_load(struct st_study *s, const char *path, struct st_error *e)
{
	json_error_t why;
	*s = (struct st_study){0};
	struct st_error unread;
	char *bytes;
	size_t n;
	if (st_whole_read(&bytes, &n, path, ST_WHOLE_DATA, &unread))
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", path, unread.text);
	json_t *root = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &why);
	free(bytes);
	if (!root)
		return st_fail(e, ST_EXIT_FAILED, "%s is not a study of strobe tune: %s", path,
		               why.text);
	int status = take_root(s, root, path, e);
	json_decref(root);
	return status;
}
