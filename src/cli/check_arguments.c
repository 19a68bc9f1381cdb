/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of strobe check. */
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/parse.h"
#include "cli/check.h"
#include "cli/commands.h"

enum {
#define O(id, letter, name, argument, shown, help) CHECK_##id,
	ST_CHECK_OPTIONS(O)
#undef O
};

enum { MOST_ROWS = 20 };
#define SEPARATOR "vs"

static st_status
set_check_percent(const char *option, const char *value, double least, double most, double *share,
                  struct st_error *e)
{
	const char *end;
	double percent;
	if (st_parse_real(value, &percent, &end) || (*end && strcmp(end, "%") != 0) ||
	    !(percent >= least && percent <= most))
		return st_fail(e, ST_EXIT_USAGE, "--%s takes percents from %g to %g, not '%s'",
		               option, least, most, value);
	*share = percent / 100;
	return ST_OK;
}

static st_status
add_check_method(struct st_check_arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {
#define M(id, name, help) name,
	        ST_CHECK_METHODS(M)
#undef M
	};
	unsigned which;
	if (st_option_word("method", value, words, ST_CHECK_METHOD_COUNT, &which, e))
		return ST_FAILED;
	st_check_method_add(&a->methods, (enum st_check_method)which, 0);
	return ST_OK;
}

/* The last list counts. */
static st_status
set_check_methods(struct st_check_arguments *a, const char *list, struct st_error *e)
{
	char *copy = strdup(list), *rest = copy;
	st_status status =
	        copy ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for the methods");
	a->methods.n = 0;
	for (char *word; !status && (word = strsep(&rest, ","));)
		status = add_check_method(a, word, e);
	free(copy);
	return status;
}

/* Without methods, the rules choose them. */
static st_status
read_check_rules(struct st_check_arguments *a, struct st_error *e)
{
	if (a->methods.n && a->rules_file)
		return st_fail(e, ST_EXIT_USAGE,
		               "--method and --rules both choose the methods: leave out one of "
		               "them");
	return a->methods.n ? ST_OK : st_check_rules_read(&a->rules, a->rules_file, e);
}

static st_status
set_check_format(struct st_check_arguments *a, const char *value, struct st_error *e)
{
	static const char *const words[] = {"text", "markdown", "json"};
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(value, words[i])) {
			a->format = i;
			return ST_OK;
		}
	return st_bad_format(value, "text, markdown and json", e);
}

static st_status
apply_check_option(struct st_check_arguments *a, int option, const char *value, struct st_error *e)
{
	struct st_distribution_choice *d = &a->how.distribution;
	switch (option) {
	case CHECK_method:
		return set_check_methods(a, value, e);
	case CHECK_rules:
		a->rules_file = value;
		return ST_OK;
	case CHECK_models: {
		static const char *const words[] = {"parametric", "smooth"};
		unsigned which;
		if (st_option_word("models", value, words, 2, &which, e))
			return ST_FAILED;
		a->how.smooth = which == 1;
		return ST_OK;
	}
	case CHECK_x:
		a->how.x = value;
		return ST_OK;
	case CHECK_metric:
		a->metric = value;
		return ST_OK;
	case CHECK_of:
		a->how.of = value;
		return ST_OK;
	case CHECK_smallest:
		return set_check_percent("smallest", value, 0, 1000, &d->smallest, e);
	case CHECK_alpha:
		return set_check_percent("alpha", value, 0.0001, 50, &d->alpha, e);
	case CHECK_cutoff:
		return set_check_percent("cutoff", value, 0, 1000, &a->cutoff, e);
	case CHECK_top:
		return st_option_number("top", value, 0, 100000000, &a->top, e);
	case CHECK_all:
		a->all = true;
		return ST_OK;
	case CHECK_any_machine:
		a->any_machine = true;
		return ST_OK;
	case CHECK_exit_code:
		a->exit_code = true;
		return ST_OK;
	case CHECK_format:
		return set_check_format(a, value, e);
	case CHECK_help:
		a->help = true;
		return ST_OK;
	default:
		return ST_FAILED; /* *e is filled */
	}
}

static st_status
add_check_name(struct st_check_arguments *a, int side, const char *value, struct st_error *e)
{
	const char **slot = ST_PUSH(&a->named[side]);
	if (slot)
		*slot = value;
	return slot ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for the names");
}

/* Without `vs`, two names are one for each side. */
static st_status
divide_check_names(struct st_check_arguments *a, bool separated, struct st_error *e)
{
	const size_t n = a->named[ST_A].n;
	if (separated)
		return n && a->named[ST_B].n
		               ? ST_OK
		               : st_fail(e, ST_EXIT_USAGE,
		                         "strobe check compares two versions: name profiles before "
		                         "and after '" SEPARATOR "'");
	if (n > 2)
		return st_fail(e, ST_EXIT_USAGE,
		               "%zu names need the word vs between both versions: strobe check "
		               "BASE... " SEPARATOR " TARGET...",
		               n);
	if (n == 2) {
		const char *target = a->named[ST_A].v[1];
		a->named[ST_A].n = 1;
		return add_check_name(a, ST_B, target, e);
	}
	return ST_OK;
}

st_status
st_check_parse(struct st_check_arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("check", argv);
	const char *value;
	int side = ST_A;
	*a = (struct st_check_arguments){.top = MOST_ROWS};
	a->how.distribution = ST_DISTRIBUTION_USUAL;
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;) {
		const bool other = option == ST_OPTIONS_OTHER;
		st_status status = ST_OK;
		if (other && side == ST_A && !strcmp(value, SEPARATOR))
			side = ST_B;
		else
			status = other ? add_check_name(a, side, value, e)
			               : apply_check_option(a, option, value, e);
		if (status)
			return ST_FAILED;
		if (a->help)
			return ST_OK;
	}
	return divide_check_names(a, side == ST_B, e) || read_check_rules(a, e) ? ST_FAILED : ST_OK;
}

void
st_check_arguments_free(struct st_check_arguments *a)
{
	free(a->named[ST_A].v);
	free(a->named[ST_B].v);
	st_check_rules_free(&a->rules);
}
