/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/callgrind.h"
#include "profile/profile.h"

const char *
st_callgrind_name(struct st_callgrind_text *t, struct st_profile *p, enum st_callgrind_names kind,
                  const char *text)
{
	enum { MOST = 1 << 22 };
	__typeof__(t->names[0]) *names = &t->names[kind];
	char *end;
	if (*text != '(' || !isdigit((unsigned char)text[1]))
		return *text ? st_profile_text(p, text) : NULL;
	unsigned long number = strtoul(text + 1, &end, 10);
	if (*end++ != ')' || number >= MOST)
		return *text ? st_profile_text(p, text) : NULL;
	end += strspn(end, " \t");
	if (*end) {
		while (names->n <= number)
			if (!ST_PUSH(names)) {
				p->out_of_memory = true;
				return NULL;
			}
		names->v[number] = st_profile_text(p, end);
	}
	return number < names->n ? names->v[number] : NULL;
}

static size_t
callgrind_word(const char **at, const char **word)
{
	*at += strspn(*at, " \t");
	*word = *at;
	size_t n = strcspn(*at, " \t");
	*at += n;
	return n;
}

bool
st_callgrind_positions(struct st_callgrind_text *t, const char *words)
{
	const char *word;
	t->n_positions = 0;
	t->line_position = SIZE_MAX;
	for (size_t n; (n = callgrind_word(&words, &word)); t->n_positions++) {
		if (t->n_positions == ST_CALLGRIND_POSITIONS)
			return false;
		if (n == 4 && !strncmp(word, "line", 4))
			t->line_position = t->n_positions;
	}
	return t->n_positions > 0;
}

bool
st_callgrind_events(struct st_callgrind_text *t, const char *words)
{
	const char *word;
	t->n_events = 0;
	for (size_t n; (n = callgrind_word(&words, &word));)
		if (t->n_events < ST_CALLGRIND_EVENTS)
			snprintf(t->events[t->n_events++], sizeof t->events[0], "%.*s",
			         (int)(n < 23 ? n : 23), word);
		else
			t->left_out++;
	return t->n_events > 0;
}

/* "12", "0x1f", "+3", "-3", "*". */
static bool
take_position(uint64_t *position, const char *word, size_t n)
{
	char *end;
	bool relative = *word == '+' || *word == '-';
	if (n == 1 && *word == '*')
		return true;
	if (!isdigit((unsigned char)word[relative]))
		return false;
	uint64_t number = strtoull(word + relative, &end, 0);
	if (end != word + n)
		return false;
	*position = !relative ? number : *word == '+' ? *position + number : *position - number;
	return true;
}

bool
st_callgrind_costs(struct st_callgrind_text *t, const char *line, uint64_t *line_number,
                   uint64_t costs[ST_CALLGRIND_EVENTS])
{
	const char *word;
	size_t n;
	for (size_t i = 0; i < t->n_positions; i++) {
		n = callgrind_word(&line, &word);
		if (!n || !take_position(&t->position[i], word, n))
			return false;
	}
	*line_number = t->line_position == SIZE_MAX ? 0 : t->position[t->line_position];
	memset(costs, 0, ST_CALLGRIND_EVENTS * sizeof *costs);
	for (size_t i = 0; (n = callgrind_word(&line, &word)); i++) {
		char *end = NULL;
		uint64_t cost = isdigit((unsigned char)*word) ? strtoull(word, &end, 0) : 0;
		if (!isdigit((unsigned char)*word) || end != word + n)
			return false;
		if (i < ST_CALLGRIND_EVENTS)
			costs[i] = cost;
	}
	return true;
}

void
st_callgrind_text_free(struct st_callgrind_text *t)
{
	for (size_t i = 0; i < ST_CALLGRIND_KINDS; i++)
		free(t->names[i].v);
}
