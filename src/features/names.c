/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of features: paths as the source would write them, and short names for models. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "features/internal.h"

const char *
st_feature_kind_name(enum st_feature_kind kind)
{
#define K(id, name) name,
	static const char *const names[] = {ST_FEATURE_KINDS(K)};
	return names[kind];
}

const char *
st_feature_origin_name(enum st_feature_origin origin)
{
	static const char *const names[] = {ST_FEATURE_ORIGINS(K)};
	return names[origin];
}

const char *
st_feature_how_name(enum st_feature_how how)
{
	static const char *const names[] = {ST_FEATURE_HOWS(K)};
#undef K
	return names[how];
}

char *
st_feature_path_of_member(const struct st_feature_item *item, const char *member)
{
	const char *link = item->behind ? "->" : ".";
	/* A pointer to a pointer has the path *p, which needs parentheses: (*p)->m. */
	if (item->path[0] == '*')
		return st_text_of("(%s)%s%s", item->path, link, member);
	return st_text_of("%s%s%s", item->path, link, member);
}

char *
st_feature_path_of_value(const struct st_feature_item *item)
{
	return st_text_of("%s%s", item->behind ? "*" : "", item->path);
}

/* Names of metrics, and words of the language of annotations. */
static bool
is_reserved(const char *name)
{
	static const char *const metrics[] = {
#define M(id, name, unit, what) name,
	        ST_RECORD_METRICS(M)
#undef M
	};
	static const char *const words[] = {"log", "exp",  "sqrt", "min",
	                                    "max", "Norm", "Exp",  "Binom"};
	for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
		if (!strcmp(name, metrics[i]))
			return true;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(name, words[i]))
			return true;
	return false;
}

static bool
is_taken(const struct st_feature_table *t, const char *name)
{
	for (size_t i = 0; i < t->features.n; i++)
		if (!strcmp(t->features.v[i].name, name))
			return true;
	return is_reserved(name);
}

/* Words that begin with _M_ are internal members of a library, as in std::vector's
 * `v._M_impl._M_start`: only the last of them helps to recognize the data. */
static bool
is_internal_word(const char *from, size_t n)
{
	return n > 3 && !strncmp(from, "_M_", 3);
}

static void
append_word(char *out, size_t size, const char *word, size_t n)
{
	if (is_internal_word(word, n)) {
		word += 3;
		n -= 3;
	}
	st_append(out, size, "%s%.*s", out[0] ? "_" : "", (int)n, word);
}

/* Joins the words of a path by underscores. */
static void
join_words(const char *path, char *out, size_t size)
{
	const char *internal = NULL;
	size_t internal_n = 0;
	out[0] = '\0';
	for (const char *p = path; *p;) {
		const char *word = p;
		while (isalnum((unsigned char)*p) || *p == '_')
			p++;
		const size_t n = (size_t)(p - word);
		p += !n;
		const bool is_internal = is_internal_word(word, n);
		if (n && !is_internal)
			append_word(out, size, word, n);
		if (n) {
			internal = is_internal ? word : NULL;
			internal_n = n;
		}
	}
	if (internal)
		append_word(out, size, internal, internal_n);
}

char *
st_feature_name_of(const struct st_feature_table *t, const char *path, const char *suffix)
{
	char words[256];
	join_words(path, words, sizeof words);
	const char *lead = !words[0] || isdigit((unsigned char)words[0]) ? "_" : "";
	for (unsigned i = 1;; i++) {
		char number[16] = "";
		if (i > 1)
			snprintf(number, sizeof number, "_%u", i);
		char *name = st_text_of("%s%s%s%s%s", lead, words, suffix ? "_" : "",
		                        suffix ? suffix : "", number);
		if (!name || !is_taken(t, name))
			return name;
		free(name);
	}
}
