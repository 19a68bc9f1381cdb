/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searching the rows of a page. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/pages.h"

char *
st_tui_row_text(const struct st_tui_page *p, size_t row)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	for (size_t c = 0; out && c < p->columns.n; c++) {
		char *cell = p->columns.v[c].left ? p->kind->cell(p, row, c) : NULL;
		if (cell)
			fprintf(out, "%s\n", cell); /* no match goes from one cell to the next */
		free(cell);
	}
	return out ? st_text_end(&built) : NULL;
}

bool
st_tui_contains(const char *text, const char *part)
{
	bool exact = false;
	for (const char *c = part; *c; c++)
		exact |= isupper((unsigned char)*c) != 0;
	return exact ? strstr(text, part) != NULL : strcasestr(text, part) != NULL;
}

static bool
search_fits(const struct st_tui_page *p, size_t row, const char *text)
{
	char *has = st_tui_row_text(p, row);
	const bool fits = has && st_tui_contains(has, text);
	free(has);
	return fits;
}

size_t
st_tui_find(struct st_tui *t, struct st_tui_page *p, const char *text, size_t from, bool forward,
            bool here)
{
	size_t row = from;
	if (!p->n || !*text)
		return SIZE_MAX;
	if (here && search_fits(p, from, text))
		return from;
	if (p->kind->reveal)
		return p->kind->reveal(t, p, text, forward, &row) ? row : SIZE_MAX;
	for (size_t i = 0; i < p->n; i++) {
		row = forward ? (row + 1) % p->n : (row + p->n - 1) % p->n;
		if (search_fits(p, row, text))
			return row;
	}
	return SIZE_MAX;
}
