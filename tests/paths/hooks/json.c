/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small real program: it makes a JSON document, reads it, sorts the members of its objects, adds
 * up its numbers, prints it and reads that again; both must say the same.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int write_events(const char *file);

enum kind { NUMBER, STRING, LIST, OBJECT, WORD };

struct value {
	enum kind kind;
	long number;
	char *name, *text; /* name: of a member of an object */
	struct value *first, *next;
};

struct reader {
	const char *at;
	int depth;
};

struct buffer {
	char *text;
	size_t used, size;
};

static struct value *j_value(struct reader *r);
static void j_print(struct buffer *b, const struct value *v);

static void
j_fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void *
j_allocate(void *old, size_t size)
{
	void *memory = realloc(old, size);
	if (!memory)
		j_fail("no memory");
	return memory;
}

static void
j_add(struct buffer *b, const char *text)
{
	size_t n = strlen(text) + 1;
	if (b->used + n > b->size) {
		b->size = 2 * (b->used + n);
		b->text = j_allocate(b->text, b->size);
	}
	memcpy(b->text + b->used, text, n);
	b->used += n - 1;
}

static int
j_blank(char c)
{
	return isspace((unsigned char)c);
}

static void
j_skip(struct reader *r)
{
	while (j_blank(*r->at))
		r->at++;
}

static int
j_eat(struct reader *r, char c)
{
	j_skip(r);
	if (*r->at != c)
		return 0;
	r->at++;
	return 1;
}

static struct value *
j_new(enum kind kind)
{
	struct value *v = j_allocate(NULL, sizeof *v);
	memset(v, 0, sizeof *v);
	v->kind = kind;
	return v;
}

static char *
j_copy(const char *text, size_t n)
{
	char *copy = j_allocate(NULL, n + 1);
	memcpy(copy, text, n);
	copy[n] = 0;
	return copy;
}

static char *
j_quoted(struct reader *r)
{
	if (!j_eat(r, '"'))
		j_fail("no string");
	const char *end = strchr(r->at, '"');
	if (!end)
		j_fail("no end of a string");
	char *text = j_copy(r->at, (size_t)(end - r->at));
	r->at = end + 1;
	return text;
}

static struct value *
j_member(struct reader *r)
{
	char *name = j_quoted(r);
	if (!j_eat(r, ':'))
		j_fail("no colon");
	struct value *v = j_value(r);
	v->name = name;
	return v;
}

static struct value *
j_several(struct reader *r, enum kind kind, char end, struct value *(*one)(struct reader *))
{
	struct value *v = j_new(kind), **last = &v->first;
	if (j_eat(r, end))
		return v;
	do {
		*last = one(r);
		last = &(*last)->next;
	} while (j_eat(r, ','));
	if (!j_eat(r, end))
		j_fail("no end");
	return v;
}

static struct value *
j_number(struct reader *r)
{
	char *end;
	struct value *v = j_new(NUMBER);
	v->number = strtol(r->at, &end, 10);
	r->at = end;
	return v;
}

static struct value *
j_word(struct reader *r)
{
	const char *start = r->at;
	while (isalpha((unsigned char)*r->at))
		r->at++;
	if (r->at == start)
		j_fail("no value");
	struct value *v = j_new(WORD);
	v->text = j_copy(start, (size_t)(r->at - start));
	return v;
}

static struct value *
j_string(struct reader *r)
{
	struct value *v = j_new(STRING);
	v->text = j_quoted(r);
	return v;
}

static struct value *
j_value(struct reader *r)
{
	if (++r->depth > 100)
		j_fail("too deep");
	struct value *v;
	j_skip(r);
	if (j_eat(r, '{'))
		v = j_several(r, OBJECT, '}', j_member);
	else if (j_eat(r, '['))
		v = j_several(r, LIST, ']', j_value);
	else if (*r->at == '"')
		v = j_string(r);
	else if (*r->at == '-' || isdigit((unsigned char)*r->at))
		v = j_number(r);
	else
		v = j_word(r);
	r->depth--;
	return v;
}

static int
j_order(const void *a, const void *b)
{
	return strcmp((*(struct value *const *)a)->name, (*(struct value *const *)b)->name);
}

static void
j_sort(struct value *v)
{
	struct value *members[64], *member;
	size_t n = 0;
	for (member = v->first; member && n < 64; member = member->next) {
		j_sort(member);
		members[n++] = member;
	}
	if (v->kind != OBJECT || !n)
		return;
	qsort(members, n, sizeof *members, j_order);
	for (size_t i = 0; i + 1 < n; i++)
		members[i]->next = members[i + 1];
	members[n - 1]->next = NULL;
	v->first = members[0];
}

static long
j_sum(const struct value *v)
{
	long sum = v->kind == NUMBER ? v->number : 0;
	for (const struct value *one = v->first; one; one = one->next)
		sum += j_sum(one);
	return sum;
}

static void
j_print_all(struct buffer *b, const struct value *v)
{
	for (const struct value *one = v->first; one; one = one->next) {
		if (v->kind == OBJECT) {
			j_add(b, "\"");
			j_add(b, one->name);
			j_add(b, "\":");
		}
		j_print(b, one);
		if (one->next)
			j_add(b, ",");
	}
}

static void
j_print_number(struct buffer *b, long number)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%ld", number);
	j_add(b, digits);
}

static void
j_print(struct buffer *b, const struct value *v)
{
	static const char *const around[][2] = {[STRING] = {"\"", "\""},
	                                        [LIST] = {"[", "]"},
	                                        [OBJECT] = {"{", "}"},
	                                        [WORD] = {"", ""}};
	if (v->kind == NUMBER) {
		j_print_number(b, v->number);
		return;
	}
	j_add(b, around[v->kind][0]);
	if (v->text)
		j_add(b, v->text);
	j_print_all(b, v);
	j_add(b, around[v->kind][1]);
}

static void
j_free(struct value *v)
{
	while (v->first) {
		struct value *one = v->first;
		v->first = one->next;
		j_free(one);
	}
	free(v->name);
	free(v->text);
	free(v);
}

/* A document whose parts lie in one another. */
static void
j_make(struct buffer *b, int depth)
{
	j_add(b, depth % 2 ? "[" : "{ \"z\" : ");
	j_print_number(b, depth);
	if (depth) {
		j_add(b, depth % 2 ? ", " : ", \"m\": ");
		j_make(b, depth - 1);
		j_add(b, depth % 2 ? ", true, " : ", \"a\": \"text\", \"k\" : ");
		j_make(b, depth > 2 ? depth - 3 : 0);
	}
	j_add(b, depth % 2 ? "]" : " }");
}

int
main(int argc, char **argv)
{
	struct buffer made = {0}, printed = {0};
	if (argc != 2)
		return 1;
	j_make(&made, 7);
	struct value *v = j_value(&(struct reader){.at = made.text});
	j_sort(v);
	j_print(&printed, v);
	struct value *again = j_value(&(struct reader){.at = printed.text});
	if (j_sum(v) != j_sum(again))
		j_fail("not the same");
	printf("%zu %ld\n", printed.used, j_sum(v));
	j_free(v);
	j_free(again);
	free(made.text);
	free(printed.text);
	return write_events(argv[1]);
}
