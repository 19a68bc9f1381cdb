/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "qos/source.h"

enum st_qos_got
st_qos_failed(struct st_qos_poll *p, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(p->why, sizeof p->why, format, ap);
	va_end(ap);
	return ST_QOS_FAILURE;
}

enum st_qos_got
st_qos_nothing(struct st_qos_poll *p, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(p->why, sizeof p->why, format, ap);
	va_end(ap);
	return ST_QOS_NOTHING;
}

bool
st_qos_number(const char *text, double *value)
{
	char *end;
	while (isspace((unsigned char)*text))
		text++;
	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	*value = strtod(text, &end);
	return end != text && isfinite(*value);
}

st_status
st_qos_regex(regex_t *regex, const char *text, struct st_error *e)
{
	char why[128];
	int status = *text ? regcomp(regex, text, REG_EXTENDED | REG_NEWLINE) : REG_BADPAT;
	if (!status)
		return 0;
	regerror(status, regex, why, sizeof why);
	return st_fail(e, ST_EXIT_USAGE,
	               "--qos: '%s' is not an extended regular expression (%s); one such as "
	               "'([0-9.]+) requests' takes the number in its first group",
	               text, why);
}

enum st_qos_match
st_qos_match(const regex_t *regex, const char *text, double *value)
{
	regmatch_t found[2];
	char number[64];
	if (regexec(regex, text, 2, found, 0))
		return ST_QOS_NO_MATCH;
	const regmatch_t *m = found[1].rm_so >= 0 ? &found[1] : &found[0];
	size_t n = (size_t)(m->rm_eo - m->rm_so);
	n = n < sizeof number ? n : sizeof number - 1;
	memcpy(number, text + m->rm_so, n);
	number[n] = 0;
	return st_qos_number(number, value) ? ST_QOS_NUMBER : ST_QOS_NO_NUMBER;
}

bool
st_qos_grown(struct st_qos_growing *g, double amount, double now, double *rate)
{
	struct st_qos_growing before = *g;
	*g = (struct st_qos_growing){amount, now, true};
	if (!before.known || amount < before.amount || now <= before.time)
		return false;
	*rate = (amount - before.amount) / (now - before.time);
	return true;
}
