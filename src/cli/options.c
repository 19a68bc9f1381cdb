/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

enum { LONGEST_NAME = 31 };

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static const char *
option_name(const void *options, size_t i)
{
	return ((const struct st_option *)options)[i].name;
}

static int
unknown(const struct st_options *o, const char *name, struct st_error *e)
{
	const char *near = st_nearest(name, o->n, option_name, o->options);
	if (near)
		st_cause(e, ST_EXIT_USAGE, "unknown option '--%s'; did you mean '--%s'?", name,
		         near);
	else
		st_cause(e, ST_EXIT_USAGE, "unknown option '--%s'; --help lists the options", name);
	return ST_OPTIONS_BAD;
}

static int
long_option(struct st_options *o, const char *text, const char **value, struct st_error *e)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : strlen(text);
	char name[LONGEST_NAME + 1];
	snprintf(name, sizeof name, "%.*s", (int)least(length, LONGEST_NAME), text);
	for (size_t i = 0; i < o->n; i++) {
		const struct st_option *option = &o->options[i];
		if (strlen(option->name) != length || strncmp(option->name, text, length))
			continue;
		if (!option->argument && equals) {
			st_cause(e, ST_EXIT_USAGE, "option '--%s' takes no argument", option->name);
			return ST_OPTIONS_BAD;
		}
		*value = equals ? equals + 1 : NULL;
		if (option->argument && !equals)
			*value = o->argv[o->at];
		if (option->argument && !*value) {
			st_cause(e, ST_EXIT_USAGE, "option '--%s' needs an argument: %s",
			         option->name, option->argument);
			return ST_OPTIONS_BAD;
		}
		o->at += option->argument && !equals;
		return (int)i;
	}
	return unknown(o, name, e);
}

static int
letter_option(struct st_options *o, const char **value, struct st_error *e)
{
	char letter = *o->letters++;
	for (size_t i = 0; i < o->n; i++) {
		const struct st_option *option = &o->options[i];
		if (option->letter != letter)
			continue;
		*value = NULL;
		if (!option->argument)
			return (int)i;
		*value = *o->letters ? o->letters : o->argv[o->at];
		if (!*value) {
			st_cause(e, ST_EXIT_USAGE, "option '-%c' needs an argument: %s", letter,
			         option->argument);
			return ST_OPTIONS_BAD;
		}
		o->at += !*o->letters;
		o->letters = NULL;
		return (int)i;
	}
	st_cause(e, ST_EXIT_USAGE, "unknown option '-%c'; --help lists the options", letter);
	return ST_OPTIONS_BAD;
}

int
st_options_next(struct st_options *o, const char **value, struct st_error *e)
{
	*value = NULL;
	if (o->letters && *o->letters)
		return letter_option(o, value, e);
	o->letters = NULL;
	const char *text = o->argv[o->at];
	if (!text)
		return ST_OPTIONS_END;
	o->at++;
	if (o->ended || text[0] != '-' || !text[1]) {
		*value = text;
		return ST_OPTIONS_OTHER;
	}
	if (!strcmp(text, "--")) {
		o->ended = true;
		return st_options_next(o, value, e);
	}
	if (text[1] == '-')
		return long_option(o, text + 2, value, e);
	o->letters = text + 1;
	return letter_option(o, value, e);
}

void
st_options_help(FILE *out, const struct st_option *options, size_t n, bool all)
{
	enum { HELP_COLUMN = 24 };
	for (size_t i = 0; i < n; i++) {
		const struct st_option *o = &options[i];
		if (!o->shown && !all)
			continue;
		int used = o->letter ? fprintf(out, "  -%c, --%s", o->letter, o->name)
		                     : fprintf(out, "      --%s", o->name);
		if (o->argument)
			used += fprintf(out, " %s", o->argument);
		fprintf(out, "%*s%s\n", used < HELP_COLUMN ? HELP_COLUMN - used : 2, "", o->help);
	}
}
