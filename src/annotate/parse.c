/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parser of files of annotations; docs/annotations.md has the grammar. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/filetext.h"
#include "annotate/parser.h"
#include "base/parse.h"

static st_status
ann_note_unknown(struct st_ann_parser *p, const struct st_ann_note *n, const char *of)
{
	return st_ann_wrong(p,
	                    "%s has no note '%.40s'; an ordinary comment begins with // and a "
	                    "blank",
	                    of, n->key);
}

/* Reads *n numbers, at most `most`, that are separated by blanks. */
static st_status
ann_note_numbers(struct st_ann_parser *p, const struct st_ann_note *note, double *v, size_t most,
                 size_t *n)
{
	const char *at = note->value;
	*n = 0;
	while (*(at += strspn(at, " \t"))) {
		if (*n == most || st_parse_real(at, &v[*n], &at))
			return st_ann_wrong(p, "the note '%.40s' has %s", note->key,
			                    *n == most ? "too many numbers"
			                               : "something that is not a number");
		++*n;
	}
	return *n ? ST_OK : st_ann_wrong(p, "the note '%.40s' has no number", note->key);
}

static st_status
ann_note_replace(struct st_ann_parser *p, char **text, const char *value)
{
	free(*text);
	*text = *value ? strdup(value) : NULL;
	return *text || !*value ? ST_OK : st_ann_no_memory(p);
}

static st_status
ann_take_processes(struct st_ann_parser *p, const struct st_ann_note *n,
                   struct st_ann_annotation *a)
{
	double v[2];
	size_t count;
	if (ann_note_numbers(p, n, v, 2, &count))
		return ST_FAILED;
	if (count != 2 || !(v[0] >= 2 && v[0] <= 1e15) || !(v[1] >= 0))
		return st_ann_wrong(p, "the note 'processes' has their number, at least 2, and the "
		                       "standard deviation between them");
	a->processes = (size_t)v[0];
	a->between = v[1];
	return ST_OK;
}

static st_status
ann_take_annotation_note(struct st_ann_parser *p, const struct st_ann_note *n, void *arg)
{
	struct st_ann_annotation *a = arg;
	double v;
	size_t count;
	if (!strcmp(n->key, "image"))
		return ann_note_replace(p, &a->image, n->value);
	if (!strcmp(n->key, "unit"))
		return ann_note_replace(p, &a->unit, n->value);
	if (!strcmp(n->key, "date"))
		return ann_note_replace(p, &a->date, n->value);
	if (!strcmp(n->key, "note"))
		return ann_note_replace(p, &a->note, n->value);
	if (!strcmp(n->key, "processes"))
		return ann_take_processes(p, n, a);
	if (strcmp(n->key, "records") && strcmp(n->key, "overhead") && strcmp(n->key, "pace"))
		return ann_note_unknown(p, n, "an annotation");
	if (ann_note_numbers(p, n, &v, 1, &count))
		return ST_FAILED;
	if (*n->key == 'o')
		a->overhead = v;
	else if (*n->key == 'p')
		a->pace = v > 0 ? v : 0;
	else if (v >= 0 && v <= 1e15)
		a->records = (size_t)v;
	return ST_OK;
}

static st_status
ann_take_declaration_note(struct st_ann_parser *p, const struct st_ann_note *n, void *arg)
{
	struct st_ann_declaration *d = arg;
	double v[2];
	size_t count;
	if (!strcmp(n->key, "also"))
		return ann_note_replace(p, &d->also, n->value);
	if (strcmp(n->key, "range"))
		return ann_note_unknown(p, n, "a feature");
	if (ann_note_numbers(p, n, v, 2, &count))
		return ST_FAILED;
	if (count != 2)
		return st_ann_wrong(p, "a range has two numbers");
	d->low = v[0];
	d->high = v[1];
	return ST_OK;
}

static st_status
ann_take_model_word(struct st_ann_parser *p, const struct st_ann_note *n, struct st_ann_model *m)
{
	if (!strcmp(n->key, "class")) {
		if (strlen(n->value) >= sizeof m->class)
			return st_ann_wrong(p, "there is no class '%.40s'", n->value);
		strcpy(m->class, n->value);
		return ST_OK;
	}
	for (m->selection = 0; m->selection < ST_ANN_SELECTION_COUNT; m->selection++)
		if (!strcmp(st_ann_selection_name(m->selection), n->value))
			return ST_OK;
	m->selection = ST_ANN_PLAIN;
	return st_ann_wrong(p, "there is no selection '%.40s'; there are plain, lower, dominant",
	                    n->value);
}

static st_status
ann_take_model_note(struct st_ann_parser *p, const struct st_ann_note *n, void *arg)
{
	enum { MOST = 64 };
	struct st_ann_model *m = arg;
	const struct {
		const char *key;
		double *to;
	} numbers[] = {{"r2", &m->r2},
	               {"r2_cv", &m->r2_cv},
	               {"fit_p", &m->fit_p},
	               {"dropped", &m->dropped}};
	double v[MOST];
	size_t count;
	if (!strcmp(n->key, "class") || !strcmp(n->key, "selection"))
		return ann_take_model_word(p, n, m);
	if (!strcmp(n->key, "branch"))
		return ann_note_replace(p, &m->branches, n->value);
	const bool is_se = !strcmp(n->key, "se"), is_n = !strcmp(n->key, "n");
	double *to = NULL;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!strcmp(n->key, numbers[i].key))
			to = numbers[i].to;
	if (!to && !is_se && !is_n)
		return ann_note_unknown(p, n, "a model");
	if (ann_note_numbers(p, n, v, is_se ? MOST : 1, &count))
		return ST_FAILED;
	if (to)
		*to = v[0];
	else if (is_n && v[0] >= 0 && v[0] <= 1e15)
		m->n = (size_t)v[0];
	for (size_t i = 0; is_se && i < count; i++) {
		double *se = ST_PUSH(&m->se);
		if (!se)
			return st_ann_no_memory(p);
		*se = v[i];
	}
	return ST_OK;
}

/* The distribution that is written here; a point when there is no word. */
static enum st_ann_distribution
ann_accept_distribution(struct st_ann_parser *p)
{
	st_ann_blanks(p, false);
	for (enum st_ann_distribution d = 0; d < ST_ANN_POINT; d++) {
		const char *const word = st_ann_distribution_word(d), *const from = p->at;
		if (st_ann_accept(p, word) && st_ann_accept(p, "("))
			return d;
		p->at = from;
	}
	return ST_ANN_POINT;
}

static st_status
ann_take_model(struct st_ann_parser *p, struct st_ann_model *m)
{
	p->operators = 0;
	m->distribution = ann_accept_distribution(p);
	if (!(m->a = st_ann_take_expr(p)))
		return ST_FAILED;
	if (m->distribution != ST_ANN_POINT) {
		if (st_ann_distribution_parameters(m->distribution) == 2 &&
		    (st_ann_expect(p, ",", "the first parameter") || !(m->b = st_ann_take_expr(p))))
			return ST_FAILED;
		if (st_ann_expect(p, ")", "the parameters of a distribution"))
			return ST_FAILED;
	}
	return st_ann_expect(p, ";", "a model") || st_ann_take_notes(p, ann_take_model_note, m)
	               ? ST_FAILED
	               : ST_OK;
}

static struct st_ann_model *
ann_new_model(struct st_ann_parser *p, struct st_ann_scope *s)
{
	struct st_ann_model *m = ST_PUSH(&s->models);
	if (!m)
		ST_IGNORE(st_ann_no_memory(p));
	else
		*m = st_ann_model_new();
	return m;
}

/* {p} model {p} model .., which stand there. */
static st_status
ann_take_weights(struct st_ann_parser *p, struct st_ann_scope *s)
{
	double sum = 0;
	const char *const from = p->at;
	while (st_ann_accept(p, "{")) {
		struct st_ann_model *m = ann_new_model(p, s);
		double weight;
		if (!m || st_ann_take_number(p, &weight))
			return ST_FAILED;
		if (weight < 0 || weight > 1)
			return st_ann_wrong(p, "a probability is from 0 to 1");
		m->weight = weight;
		sum += weight;
		if (st_ann_expect(p, "}", "a probability") || ann_take_model(p, m))
			return ST_FAILED;
	}
	if (fabs(sum - 1) > 1e-3) {
		p->at = from;
		return st_ann_wrong(p, "the probabilities have the sum %g instead of 1", sum);
	}
	return ST_OK;
}

static bool
ann_is_next(struct st_ann_parser *p, char c)
{
	st_ann_blanks(p, false);
	return *p->at == c;
}

/* Models without a condition, or those behind one. */
static st_status
ann_take_scope_models(struct st_ann_parser *p, struct st_ann_scope *s)
{
	if (!s->condition && ann_is_next(p, '{'))
		return ann_take_weights(p, s);
	if (s->condition && st_ann_accept(p, "{"))
		return !ann_is_next(p, '{') ? st_ann_wrong(p, "a probability such as {0.5} is "
		                                              "expected here")
		       : ann_take_weights(p, s) ||
		                       st_ann_expect(p, "}", "the models of a condition")
		               ? ST_FAILED
		               : ST_OK;
	struct st_ann_model *m = ann_new_model(p, s);
	return m ? ann_take_model(p, m) : ST_FAILED;
}

static st_status
ann_take_body(struct st_ann_parser *p, struct st_ann_annotation *a)
{
	do {
		struct st_ann_scope *s = ST_PUSH(&a->scopes);
		if (!s)
			return st_ann_no_memory(p);
		p->operators = 0;
		if (st_ann_accept(p, "[") && (!(s->condition = st_ann_take_condition(p)) ||
		                              st_ann_expect(p, "]", "a condition")))
			return ST_FAILED;
		if (ann_take_scope_models(p, s))
			return ST_FAILED;
	} while (ann_is_next(p, '['));
	return st_ann_expect(p, "}", "the models of an annotation");
}

/* A declaration is "type name = path;". No model contains a single equals sign, and no type one of
 * these characters. */
static bool
ann_declaration_follows(struct st_ann_parser *p)
{
	st_ann_blanks(p, false);
	const char *const end = p->at + strcspn(p->at, "=;[{()}^\"/");
	return *end == '=' && end[1] != '=';
}

/* Reads the source of a feature up to the semicolon. It is kept as text, because the features of
 * records are expressions of any language: v->end - v->begin, strlen(s), v.size(). */
static char *
ann_take_source(struct st_ann_parser *p)
{
	st_ann_blanks(p, false);
	const char *const from = p->at;
	p->at += strcspn(p->at, ";\r\n");
	while (p->at > from && strchr(" \t", p->at[-1]))
		p->at--;
	if (p->at == from) {
		ST_IGNORE(st_ann_wrong(p, "the source of a feature is expected here"));
		return NULL;
	}
	char *source = st_ann_taken(p, from);
	if (!source)
		ST_IGNORE(st_ann_no_memory(p));
	return source;
}

/* The last word before the equals sign is the name; the words before it are the type. */
static st_status
ann_take_declaration(struct st_ann_parser *p, struct st_ann_annotation *a)
{
	struct st_ann_declaration *d = ST_PUSH(&a->declarations);
	if (!d)
		return st_ann_no_memory(p);
	*d = (struct st_ann_declaration){.low = NAN, .high = NAN};
	st_ann_blanks(p, false);
	const char *const from = p->at, *end = from + strcspn(from, "=");
	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	const char *name = end;
	while (name > from && (isalnum((unsigned char)name[-1]) || strchr("_$", name[-1])))
		name--;
	p->at = name;
	if (!(d->name = st_ann_take_name(p, "the name of a feature")))
		return ST_FAILED;
	while (name > from && isspace((unsigned char)name[-1]))
		name--;
	if (name == from) {
		p->at = from;
		return st_ann_wrong(p, "a type and a name are expected before '='");
	}
	d->type = strndup(from, (size_t)(name - from));
	if (!d->type)
		return st_ann_no_memory(p);
	for (char *c = d->type; *c; c++)
		if (isspace((unsigned char)*c))
			*c = ' ';
	if (st_ann_expect(p, "=", "a name") || !(d->path = ann_take_source(p)))
		return ST_FAILED;
	return st_ann_expect(p, ";", "the source of a feature") ||
	                       st_ann_take_notes(p, ann_take_declaration_note, d)
	               ? ST_FAILED
	               : ST_OK;
}

/* SYMBOL.METRIC: the last dot before the parenthesis separates them. The symbol may be quoted. */
static st_status
ann_take_symbol(struct st_ann_parser *p, struct st_ann_annotation *a)
{
	if (*p->at == '"') {
		if (!(a->function = st_ann_take_quoted(p)))
			return ST_FAILED;
		if (*p->at != '.')
			return st_ann_wrong(p, "a dot and the metric are expected after the name "
			                       "of the function");
		p->at++;
	}
	const char *const from = p->at;
	p->at += strcspn(p->at, " \t\r\n(){}\"\\;,/");
	const char *dot = a->function ? from - 1 : NULL;
	for (const char *at = from; !a->function && at < p->at; at++)
		if (*at == '.')
			dot = at;
	if (!dot || dot + 1 == p->at || (!a->function && dot == from)) {
		p->at = from;
		return st_ann_wrong(p, "FUNCTION.METRIC(PARAMETERS) is expected here");
	}
	if (!a->function)
		a->function = strndup(from, (size_t)(dot - from));
	a->metric = st_ann_taken(p, dot + 1);
	if (strchr(a->metric ? a->metric : "", '.')) {
		p->at = dot + 1;
		return st_ann_wrong(p, "the name of a metric has no dot");
	}
	return a->function && a->metric ? ST_OK : st_ann_no_memory(p);
}

static st_status
ann_take_head(struct st_ann_parser *p, struct st_ann_annotation *a)
{
	if (ann_take_symbol(p, a) || st_ann_expect(p, "(", "the metric"))
		return ST_FAILED;
	if (st_ann_accept(p, ")"))
		return ST_OK;
	do {
		char *name = st_ann_take_name(p, "the name of a parameter");
		char **to = name ? ST_PUSH(&a->parameters) : NULL;
		if (name && !to)
			free(name);
		if (!to)
			return name ? st_ann_no_memory(p) : ST_FAILED;
		*to = name;
	} while (st_ann_accept(p, ","));
	return st_ann_expect(p, ")", "the parameters");
}

static st_status
ann_take_annotation(struct st_ann_parser *p, struct st_ann_annotation *a)
{
	st_ann_blanks(p, false);
	for (const char *at = p->text; at < p->at; at++)
		a->line += *at == '\n';
	a->line++;
	if (ann_take_head(p, a) || st_ann_expect(p, "{", "the parameters"))
		return ST_FAILED;
	while (ann_declaration_follows(p))
		if (ann_take_declaration(p, a))
			return ST_FAILED;
	return ann_take_body(p, a);
}

static st_status
ann_take_file(struct st_ann_parser *p, struct st_ann_file *out)
{
	for (;;) {
		struct st_ann_annotation *a = ST_PUSH(&out->list);
		if (!a)
			return st_ann_no_memory(p);
		a->overhead = a->between = NAN;
		if (st_ann_take_notes(p, ann_take_annotation_note, a))
			return ST_FAILED;
		if (!*p->at) {
			st_ann_annotation_free(a);
			out->list.n--;
			return ST_OK;
		}
		if (ann_take_annotation(p, a))
			return ST_FAILED;
	}
}

st_status
st_ann_parse(const char *text, size_t length, const char *name, struct st_ann_file *out,
             struct st_error *e)
{
	*out = (struct st_ann_file){0};
	if (memchr(text, 0, length))
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is not a file of annotations: it has a byte that is 0", name);
	char *copy = strndup(text, length);
	struct st_ann_parser p = {.name = name, .text = copy, .at = copy, .e = e};
	const st_status status = copy ? ann_take_file(&p, out) : st_ann_no_memory(&p);
	free(copy);
	return status;
}

st_status
st_ann_read(const char *path, struct st_ann_file *out, struct st_error *e)
{
	char *text;
	size_t n;
	*out = (struct st_ann_file){0};
	if (st_ann_file_text(path, "annotations", &text, &n, e))
		return ST_FAILED;
	const st_status status =
	        st_ann_parse(text, n, strcmp(path, "-") ? path : "standard input", out, e);
	free(text);
	return status;
}

struct st_ann_expr *
st_ann_parse_condition(const char *text, const char *name, struct st_error *e)
{
	struct st_ann_parser p = {.name = name, .text = text, .at = text, .e = e};
	struct st_ann_expr *x = st_ann_take_condition(&p);
	st_ann_blanks(&p, false);
	if (x && *p.at) {
		ST_IGNORE(st_ann_wrong(&p, "the end of the condition is expected here"));
		st_ann_expr_free(x);
		x = NULL;
	}
	return x;
}
