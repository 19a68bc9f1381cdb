/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds pairs of variables of one object that delimit a range: their difference is a size or a
 * duration. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "features/internal.h"

enum end { END_NONE, END_FIRST, END_LAST };

/* The words of a name, without the word that tells the first end from the last. */
struct words {
	enum end end;
	bool capacity; /* the end is that of the reserved memory */
	char rest[128];
};

static const char *const first_words[] = {"start", "begin", "first"}, *const last_words[] = {
                                                                              "stop", "end", "last",
                                                                              "finish"};

/* Whether the text begins with one of the words; the case of letters does not matter. */
static bool
begins_with_word(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((text[0] | 0x20) == words[i][0] && (text[1] | 0x20) == words[i][1] &&
		    !strncasecmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Whether a name contains the letters of such a word: most names do not, and need not be divided
 * into words. */
static bool
may_be_end(const char *name, enum end end)
{
	const char *const *const words = end == END_FIRST ? first_words : last_words;
	const size_t n = end == END_FIRST ? sizeof first_words / sizeof *first_words
	                                  : sizeof last_words / sizeof *last_words;
	for (; *name; name++)
		if (begins_with_word(name, words, n))
			return true;
	return false;
}

static enum end
end_of_word(const char *word)
{
	for (size_t i = 0; i < sizeof first_words / sizeof *first_words; i++)
		if (!strcmp(word, first_words[i]))
			return END_FIRST;
	for (size_t i = 0; i < sizeof last_words / sizeof *last_words; i++)
		if (!strcmp(word, last_words[i]))
			return END_LAST;
	return END_NONE;
}

static bool
is_capacity_word(const char *word)
{
	return !strcmp(word, "storage") || !strcmp(word, "cap") || !strcmp(word, "capacity");
}

static void
take_name_word(struct words *w, const char *word)
{
	const enum end end = end_of_word(word);
	if (!w->end && end)
		w->end = end;
	else if (w->end == END_LAST && (is_capacity_word(word) || !strcmp(word, "of")))
		w->capacity |= is_capacity_word(word);
	else
		st_append(w->rest, sizeof w->rest, "%s_", word);
}

/* Words are separated by underscores, or begin with a capital letter after a small one. */
static struct words
words_of_name(const char *name)
{
	struct words w = {.end = END_NONE};
	char word[64];
	size_t n = 0;
	for (const char *p = name;; p++) {
		const bool starts =
		        p > name && isupper((unsigned char)*p) && islower((unsigned char)p[-1]);
		if (n && (!isalnum((unsigned char)*p) || starts)) {
			word[n] = '\0';
			take_name_word(&w, word);
			n = 0;
		}
		if (!*p)
			break;
		if (isalnum((unsigned char)*p) && n + 1 < sizeof word)
			word[n++] = (char)tolower((unsigned char)*p);
	}
	return w;
}

static bool
is_pointer_to_elements(const struct st_type *t)
{
	return t->kind == ST_TYPE_POINTER && t->target && t->target->size;
}

static bool
is_integer(const struct st_type *t)
{
	return t->kind == ST_TYPE_SIGNED || t->kind == ST_TYPE_UNSIGNED;
}

static bool
can_differ(const struct st_feature_end *a, const struct st_feature_end *b)
{
	if (!a->type || !b->type || a->type->kind != b->type->kind ||
	    a->type->size != b->type->size)
		return false;
	if (is_pointer_to_elements(a->type))
		return a->type->target == b->type->target;
	return a->type == b->type && is_integer(a->type);
}

/* The difference of begin_x and end_x is named after x, that of begin and end after the object;
 * internal members of libraries (_M_...) are left out of the name. malloc'ed. */
static char *
name_of_span(const char *object, const char *first)
{
	struct words w = words_of_name(first);
	const char *inner = strstr(object, "_M_");
	const size_t n = inner ? (size_t)(inner - object) : strlen(object);
	const bool has_rest = w.rest[0] && strcmp(w.rest, "m_");
	if (has_rest)
		w.rest[strlen(w.rest) - 1] = '\0';
	return st_text_of("%.*s%s%s", (int)n, object, n && has_rest ? "." : "",
	                  has_rest ? w.rest : "");
}

static void
add_difference(struct st_feature_search *s, const struct st_feature_item *object,
               const struct st_feature_end *first, const struct st_feature_end *last, bool capacity)
{
	const uint16_t from = st_feature_read(s, &first->where, first->type, 0, 0),
	               to = st_feature_read(s, &last->where, last->type, 0, 0);
	const bool pointers = is_pointer_to_elements(first->type);
	struct st_record_op op = {.kind = ST_RECORD_DIFFERENCE,
	                          .base = to,
	                          .other = from,
	                          .extra = pointers ? first->type->target->size : 1};
	char *a = object->path ? st_feature_path_of_member(object, last->name)
	                       : st_text_of("%s", last->name),
	     *b = object->path ? st_feature_path_of_member(object, first->name)
	                       : st_text_of("%s", first->name);
	char *path = a && b ? st_text_of("%s - %s", a, b) : NULL;
	struct st_feature f = {
	        .how = ST_BY_DIFFERENCE, .form = ST_FORM_SIGNED, .type_name = "size"};
	free(a);
	free(b);
	if (from == ST_NO_OP || to == ST_NO_OP) {
		s->table->left_out++;
		free(path);
		return;
	}
	f.op = st_feature_emit(s, op);
	char *name = name_of_span(object->path ? object->path : "", first->name);
	struct st_feature_item named = *object;
	named.path = name && name[0] ? name : NULL;
	named.behind = false;
	st_feature_add(s, &named, path, capacity ? "capacity" : "size", f);
	free(name);
}

static bool
is_end_of(const struct st_feature_end *v, enum end end, struct words *w)
{
	if (!v->name || !v->type || (v->type->kind != ST_TYPE_POINTER && !is_integer(v->type)))
		return false;
	if (!may_be_end(v->name, end))
		return false;
	*w = words_of_name(v->name);
	return w->end == end;
}

void
st_feature_pairs(struct st_feature_search *s, const struct st_feature_item *object,
                 struct st_feature_end *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct words first, last;
		bool has_size = false, has_capacity = false;
		if (!is_end_of(&v[i], END_FIRST, &first))
			continue;
		for (size_t j = 0; j < n; j++) {
			if (!can_differ(&v[i], &v[j]) || !is_end_of(&v[j], END_LAST, &last) ||
			    strcmp(first.rest, last.rest) ||
			    (last.capacity ? has_capacity : has_size))
				continue;
			add_difference(s, object, &v[i], &v[j], last.capacity);
			has_size |= !last.capacity;
			has_capacity |= last.capacity;
			if (v[i].type->kind == ST_TYPE_POINTER)
				v[i].is_pair = v[j].is_pair = true;
		}
	}
}
