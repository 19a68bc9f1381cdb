/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "kernel:bandwidth=aicc,kernel=tricube" and its like. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/parse.h"
#include "base/text.h"
#include "model/smooth.h"

#define WORD(id, name) name,
static const char *const methods[] = {ST_SMOOTHS(WORD)}, *const bin_rules[] = {ST_BIN_RULES(WORD)},
                         *const averages[] = {ST_AVERAGES(WORD)},
                         *const shapes[] = {ST_WINDOWS(WORD)},
                         *const bandwidths[] = {ST_BANDWIDTHS(WORD)},
                         *const kernels[] = {ST_KERNELS(WORD)};
#undef WORD

enum { LONGEST_WIDTH = 1000000 };

static st_status
parse_positive(const char *key, const char *value, double most, double *number, struct st_error *e)
{
	const char *end;
	if (!st_parse_real(value, number, &end) && !*end && *number > 0 && *number <= most)
		return ST_OK;
	return most < INFINITY
	               ? st_fail(e, ST_EXIT_USAGE, "%s takes a number above 0 up to %g, not '%s'",
	                         key, most, value)
	               : st_fail(e, ST_EXIT_USAGE, "%s takes a number above 0, not '%s'", key,
	                         value);
}

static st_status
parse_count(const char *key, const char *value, long least, long most, size_t *count,
            struct st_error *e)
{
	long number;
	if (st_parse_between(value, least, most, &number))
		return st_fail(e, ST_EXIT_USAGE, "%s takes a number from %ld to %ld, not '%s'", key,
		               least, most, value);
	*count = (size_t)number;
	return ST_OK;
}

static st_status
parse_word(const char *key, const char *value, const char *const *words, size_t n, unsigned *which,
           struct st_error *e)
{
	for (*which = 0; *which < n; ++*which)
		if (!strcmp(value, words[*which]))
			return ST_OK;
	char all[256] = "";
	for (size_t i = 0; i < n; i++)
		st_append(all, sizeof all, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", words[i]);
	return st_fail(e, ST_EXIT_USAGE, "%s takes %s, not '%s'", key, all, value);
}

/* A number, or else one of the words. */
static st_status
parse_bins(struct st_smooth_choice *c, const char *value, struct st_error *e)
{
	unsigned which;
	if (*value >= '0' && *value <= '9')
		return parse_count("bins", value, 1, LONGEST_WIDTH, &c->bins, e);
	if (parse_word("bins", value, bin_rules, ST_BINS_COUNT, &which, e))
		return ST_FAILED;
	c->bin_rule = (enum st_bin_rule)which;
	return ST_OK;
}

static st_status
parse_bandwidth(struct st_smooth_choice *c, const char *value, struct st_error *e)
{
	unsigned which;
	if ((*value >= '0' && *value <= '9') || *value == '.')
		return parse_positive("bandwidth", value, INFINITY, &c->bandwidth, e);
	if (parse_word("bandwidth", value, bandwidths, ST_BANDWIDTH_COUNT, &which, e))
		return ST_FAILED;
	c->bandwidth_rule = (enum st_bandwidth_rule)which;
	return ST_OK;
}

static st_status
parse_average(struct st_smooth_choice *c, const char *value, struct st_error *e)
{
	const size_t n = c->method == ST_SMOOTH_MOVING ? ST_AVERAGE_COUNT : ST_AVERAGE_EXPONENTIAL;
	unsigned which;
	if (parse_word("average", value, averages, n, &which, e))
		return ST_FAILED;
	c->average = (enum st_average)which;
	return ST_OK;
}

/* The decay of an exponential average by one of its four names. */
static st_status
parse_decay(struct st_smooth_choice *c, const char *key, const char *value, struct st_error *e)
{
	double number;
	if (parse_positive(key, value, !strcmp(key, "alpha") ? 1 : INFINITY, &number, e))
		return ST_FAILED;
	c->average = ST_AVERAGE_EXPONENTIAL;
	c->alpha = !strcmp(key, "com")        ? 1 / (1 + number)
	           : !strcmp(key, "span")     ? 2 / (fmax(number, 1) + 1)
	           : !strcmp(key, "halflife") ? 1 - exp2(-1 / number)
	                                      : number;
	return ST_OK;
}

static st_status
parse_degree(struct st_smooth_choice *c, const char *value, struct st_error *e)
{
	const bool loess = c->method == ST_SMOOTH_LOESS;
	size_t degree;
	if (parse_count("degree", value, loess, loess ? 2 : 1, &degree, e))
		return ST_FAILED;
	c->degree = (unsigned)degree;
	c->degree_is_set = true;
	return ST_OK;
}

static st_status
unknown_key(const struct st_smooth_choice *c, const char *key, struct st_error *e)
{
	static const char *const keys[] = {
	        [ST_SMOOTH_REGRESSOGRAM] = "bins and average",
	        [ST_SMOOTH_MOVING] =
	                "window, shape, average, place, min, com, span, halflife and alpha",
	        [ST_SMOOTH_KERNEL] = "bandwidth, kernel and degree",
	        [ST_SMOOTH_LOESS] = "span and degree"};
	return st_fail(e, ST_EXIT_USAGE, "--smooth %s has no '%s'; it has %s", methods[c->method],
	               key, keys[c->method]);
}

static st_status
set_moving(struct st_smooth_choice *c, const char *key, const char *value, struct st_error *e)
{
	static const char *const places[] = {"centred", "trailing"};
	unsigned which;
	if (!strcmp(key, "window"))
		return parse_count(key, value, 1, LONGEST_WIDTH, &c->window, e);
	if (!strcmp(key, "min"))
		return parse_count(key, value, 1, LONGEST_WIDTH, &c->min_points, e);
	if (!strcmp(key, "average"))
		return parse_average(c, value, e);
	if (!strcmp(key, "shape") || !strcmp(key, "place")) {
		const bool shape = !strcmp(key, "shape");
		if (parse_word(key, value, shape ? shapes : places, shape ? ST_WINDOW_COUNT : 2,
		               &which, e))
			return ST_FAILED;
		if (shape)
			c->shape = (enum st_window)which;
		else
			c->trailing = which;
		return ST_OK;
	}
	if (!strcmp(key, "com") || !strcmp(key, "span") || !strcmp(key, "halflife") ||
	    !strcmp(key, "alpha"))
		return parse_decay(c, key, value, e);
	return unknown_key(c, key, e);
}

static st_status
set_kernel(struct st_smooth_choice *c, const char *key, const char *value, struct st_error *e)
{
	unsigned which;
	if (!strcmp(key, "bandwidth"))
		return parse_bandwidth(c, value, e);
	if (!strcmp(key, "degree"))
		return parse_degree(c, value, e);
	if (strcmp(key, "kernel") != 0)
		return unknown_key(c, key, e);
	if (parse_word(key, value, kernels, ST_KERNEL_COUNT, &which, e))
		return ST_FAILED;
	c->kernel = (enum st_kernel)which;
	return ST_OK;
}

static st_status
set_smooth_key(struct st_smooth_choice *c, const char *key, const char *value, struct st_error *e)
{
	switch (c->method) {
	case ST_SMOOTH_REGRESSOGRAM:
		return !strcmp(key, "bins")      ? parse_bins(c, value, e)
		       : !strcmp(key, "average") ? parse_average(c, value, e)
		                                 : unknown_key(c, key, e);
	case ST_SMOOTH_MOVING:
		return set_moving(c, key, value, e);
	case ST_SMOOTH_KERNEL:
		return set_kernel(c, key, value, e);
	default:
		return !strcmp(key, "span")     ? parse_positive(key, value, 100, &c->span, e)
		       : !strcmp(key, "degree") ? parse_degree(c, value, e)
		                                : unknown_key(c, key, e);
	}
}

st_status
st_smooth_parse(const char *text, struct st_smooth_choice *choice, struct st_error *e)
{
	char *copy = strdup(text), *rest = copy, *name = strsep(&rest, ":");
	unsigned which;
	st_status status =
	        copy ? st_option_word("smooth", name, methods, ST_SMOOTH_COUNT, &which, e)
	             : st_fail(e, ST_EXIT_FAILED, "no memory left");
	if (!status)
		*choice = (struct st_smooth_choice){.method = (enum st_smooth_method)which};
	for (char *word; !status && (word = strsep(&rest, ","));) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = 0;
		status = value ? set_smooth_key(choice, word, value, e)
		               : st_fail(e, ST_EXIT_USAGE,
		                         "--smooth %s: '%s' needs a value, %s=VALUE", name, word,
		                         word);
	}
	free(copy);
	return status;
}

const char *
st_smooth_name(const struct st_smooth *m)
{
	return methods[m->choice.method];
}

static void
describe_moving(const struct st_smooth_choice *c, char *text, size_t size)
{
	st_append(text, size, "average=%s,", averages[c->average]);
	if (c->average == ST_AVERAGE_EXPONENTIAL) {
		st_append(text, size, "alpha=%.6g", c->alpha);
		return;
	}
	st_append(text, size, "window=%zu,", c->window);
	if (c->average == ST_AVERAGE_MEAN)
		st_append(text, size, "shape=%s,", shapes[c->shape]);
	st_append(text, size, "place=%s,min=%zu", c->trailing ? "trailing" : "centred",
	          c->min_points);
}

const char *
st_smooth_describe(const struct st_smooth *m, char *text, size_t size)
{
	const struct st_smooth_choice *c = &m->choice;
	*text = 0;
	switch (c->method) {
	case ST_SMOOTH_REGRESSOGRAM:
		st_append(text, size, "bins=%zu,average=%s", c->bins, averages[c->average]);
		break;
	case ST_SMOOTH_MOVING:
		describe_moving(c, text, size);
		break;
	case ST_SMOOTH_KERNEL:
		st_append(text, size, "bandwidth=%.6g,kernel=%s,degree=%u", c->bandwidth,
		          kernels[c->kernel], c->degree);
		break;
	default:
		st_append(text, size, "span=%.6g,degree=%u", c->span, c->degree);
	}
	return text;
}
