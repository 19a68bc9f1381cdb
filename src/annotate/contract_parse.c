/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parser of contracts. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/contract.h"
#include "annotate/filetext.h"
#include "annotate/parser.h"

static void
ann_contract_free(struct st_ann_contract *c)
{
	free(c->text);
	free(c->metric);
	free(c->function);
	free(c->range);
	st_ann_expr_free(c->bound);
}

void
st_ann_contracts_free(struct st_ann_contracts *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		ann_contract_free(&c->list.v[i]);
	free(c->list.v);
	*c = (struct st_ann_contracts){0};
}

/* METRIC(FUNCTION): the function may contain pairs of parentheses, or be quoted. */
static st_status
ann_contract_head(struct st_ann_parser *p, struct st_ann_contract *c)
{
	if (!(c->metric = st_ann_take_name(p, "a contract such as 'time(sort) <= 9*n'")) ||
	    st_ann_expect(p, "(", "the metric"))
		return ST_FAILED;
	p->at += strspn(p->at, " \t");
	if (*p->at == '"')
		return (c->function = st_ann_take_quoted(p)) &&
		                       !st_ann_expect(p, ")", "the function")
		               ? ST_OK
		               : ST_FAILED;
	const char *const from = p->at;
	for (int depth = 0; *p->at && (depth || *p->at != ')'); p->at++)
		depth += (*p->at == '(') - (*p->at == ')');
	c->function = st_ann_taken(p, from);
	for (size_t n = c->function ? strlen(c->function) : 0;
	     n && isspace((unsigned char)c->function[n - 1]);)
		c->function[--n] = 0;
	if (!c->function)
		return st_ann_no_memory(p);
	if (!*c->function)
		return st_ann_wrong(p, "the name of a function is expected here");
	return st_ann_expect(p, ")", "the function");
}

/* Returns the length of the unit of time at the beginning of the text, if it is a whole word; 0
 * otherwise. */
static size_t
ann_contract_unit_at(const char *at, size_t left)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		const size_t n = strlen(units[i]);
		if (left >= n && !strncmp(at, units[i], n) &&
		    (left == n || (!isalnum((unsigned char)at[n]) && at[n] != '_')))
			return n;
	}
	return 0;
}

/* Rewrites "9ns" as 9*ns, so that the unit is looked up like a name; "n1s" is a name already. */
static char *
ann_contract_units(const char *text, size_t n)
{
	char *out = malloc(2 * n + 1), *to = out;
	bool name = false, number = false;
	for (size_t i = 0; out && i < n; i++) {
		const bool letter = isalpha((unsigned char)text[i]) || text[i] == '_',
		           digit = isdigit((unsigned char)text[i]) || text[i] == '.';
		name = name ? letter || digit : letter && !number;
		number = !name && (digit || (number && letter));
		*to++ = text[i];
		if (number && digit && ann_contract_unit_at(text + i + 1, n - i - 1)) {
			*to++ = '*';
			number = false; /* the unit is a name */
		}
	}
	if (out)
		*to = 0;
	return out;
}

/* The bound ends at "@" or at the word "for". */
static size_t
ann_contract_bound_end(const char *at)
{
	const size_t n = strlen(at);
	for (size_t i = 0; i < n; i++)
		if (at[i] == '@' ||
		    (!strncmp(at + i, "for ", 4) && i && isspace((unsigned char)at[i - 1])))
			return i;
	return n;
}

static void
ann_contract_name(void *arg, const char *name)
{
	*(bool *)arg |= !ann_contract_unit_at(name, strlen(name));
}

static st_status
ann_contract_bound(struct st_ann_parser *p, struct st_ann_contract *c)
{
	c->growth = st_ann_accept(p, "~");
	if (!c->growth && st_ann_expect(p, "<=", "the function"))
		return ST_FAILED;
	const size_t n = ann_contract_bound_end(p->at);
	char *text = ann_contract_units(p->at, n);
	if (!text)
		return st_ann_no_memory(p);
	struct st_ann_parser own = {.name = p->name, .text = text, .at = text, .e = p->e};
	c->bound = st_ann_take_expr(&own);
	st_ann_blanks(&own, false);
	const bool more = c->bound && *own.at;
	if (!c->bound || more) {
		p->at += (size_t)(own.at - text) < n ? (size_t)(own.at - text) : n;
		free(text);
		return st_ann_wrong(p, more ? "the end of the bound, @ or 'for' is expected here"
		                            : "a bound such as 9*n*log(n) is expected here");
	}
	p->at += n;
	free(text);
	bool named = false;
	st_ann_each_name(c->bound, ann_contract_name, &named);
	if (c->growth && !named)
		return st_ann_wrong(p, "growth is compared with an expression of features, as in "
		                       "'~ n'; a constant bound is written with <=");
	return ST_OK;
}

/* "@p95". */
static st_status
ann_contract_quantile(struct st_ann_parser *p, struct st_ann_contract *c)
{
	double percent;
	c->quantile = 1;
	if (!st_ann_accept(p, "@"))
		return ST_OK;
	if (c->growth)
		return st_ann_wrong(p, "only a bound with <= can have a share of calls");
	if (st_ann_expect(p, "p", "@") || st_ann_take_number(p, &percent))
		return ST_FAILED;
	if (percent <= 0 || percent > 100)
		return st_ann_wrong(p, "a share of calls is above 0 and at most 100, as in @p95");
	c->quantile = percent / 100;
	return ST_OK;
}

/* "for NAME in LOW..HIGH". */
static st_status
ann_contract_range(struct st_ann_parser *p, struct st_ann_contract *c)
{
	char low[40];
	if (!st_ann_accept(p, "for"))
		return ST_OK;
	if (!(c->range = st_ann_take_name(p, "the name of a feature")) ||
	    st_ann_expect(p, "in", "the feature"))
		return ST_FAILED;
	st_ann_blanks(p, false);
	/* The range is split at "..", because "1..2" would be read as "1." and ".2". */
	const char *const dots = strstr(p->at, "..");
	if (!dots || (size_t)(dots - p->at) >= sizeof low)
		return st_ann_wrong(p, "a range such as 1e3..1e6 is expected here");
	memcpy(low, p->at, (size_t)(dots - p->at));
	low[dots - p->at] = 0;
	struct st_ann_parser own = {.name = p->name, .text = low, .at = low, .e = p->e};
	if (st_ann_take_number(&own, &c->low) || *own.at)
		return st_ann_wrong(p, "a range such as 1e3..1e6 is expected here");
	p->at = dots + 2;
	if (st_ann_take_number(p, &c->high))
		return ST_FAILED;
	return c->low <= c->high ? ST_OK : st_ann_wrong(p, "the range ends before it begins");
}

static st_status
ann_contract_line(struct st_ann_parser *p, struct st_ann_contracts *out)
{
	struct st_ann_contract *c = ST_PUSH(&out->list);
	if (!c || !(c->text = strdup(p->text)))
		return st_ann_no_memory(p);
	if (ann_contract_head(p, c) || ann_contract_bound(p, c) || ann_contract_quantile(p, c) ||
	    ann_contract_range(p, c))
		return ST_FAILED;
	st_ann_blanks(p, false);
	return *p->at ? st_ann_wrong(p, "the end of the line is expected after the contract")
	              : ST_OK;
}

/* Each line has a parser, in which its number is 1: the message gets the number in the file. */
static st_status
ann_contract_place(const char *name, unsigned line, struct st_error *e)
{
	char text[sizeof e->text];
	const size_t n = strlen(name);
	if (strncmp(e->text, name, n) || strncmp(e->text + n, ":1:", 3))
		return ST_FAILED;
	snprintf(text, sizeof text, "%.200s:%u:%.700s", name, line, e->text + n + 3);
	memcpy(e->text, text, sizeof text);
	return ST_FAILED;
}

st_status
st_ann_contracts_parse(const char *text, size_t n, const char *name, struct st_ann_contracts *out,
                       struct st_error *e)
{
	*out = (struct st_ann_contracts){0};
	if (memchr(text, 0, n))
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is not a file of contracts: it has a byte that is 0", name);
	char *copy = strndup(text, n), *rest = copy;
	st_status status =
	        copy ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", name);
	unsigned number = 0;
	for (char *line; !status && (line = strsep(&rest, "\n"));) {
		number++;
		line[strcspn(line, "\r")] = 0;
		const size_t blank = strspn(line, " \t");
		if (!line[blank] || line[blank] == '#')
			continue;
		struct st_ann_parser p = {.name = name, .text = line, .at = line, .e = e};
		status = ann_contract_line(&p, out);
		if (status)
			status = ann_contract_place(name, number, e);
		else
			out->list.v[out->list.n - 1].line = number;
	}
	if (!status && !out->list.n)
		status = st_fail(e, ST_EXIT_USAGE, "%s has no contract", name);
	free(copy);
	return status;
}

st_status
st_ann_contracts_read(const char *path, struct st_ann_contracts *out, struct st_error *e)
{
	char *text;
	size_t n;
	*out = (struct st_ann_contracts){0};
	if (st_ann_file_text(path, "contracts", &text, &n, e))
		return ST_FAILED;
	const st_status status = st_ann_contracts_parse(
	        text, n, strcmp(path, "-") ? path : "standard input", out, e);
	free(text);
	return status;
}
