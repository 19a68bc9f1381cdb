/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "report/text.h"
#include "tui/width.h"

enum {
	FRAME_GAP = 2,        /* blanks between columns */
	FRAME_ALL_LINES = 4,  /* a screen with fewer lines has rows only */
	FRAME_DETAIL = 10,    /* the least number of lines with which one has the cursor's name */
	FRAME_MOST_CELLS = 64 /* columns of a page that are shown */
};

/* The columns that are shown, and their widths. */
struct frame_columns {
	size_t n, of[FRAME_MOST_CELLS], width[FRAME_MOST_CELLS];
};

static st_status
frame_add(struct st_tui_frame *f, char *text, enum st_tui_style style)
{
	struct st_tui_line *line = text ? ST_PUSH(&f->lines) : NULL;
	if (!line) {
		free(text);
		return ST_FAILED;
	}
	*line = (struct st_tui_line){text, style};
	return ST_OK;
}

/* ---- columns ---- */

static void
frame_measure(struct st_tui_page *p, size_t height)
{
	for (size_t c = 0; c < p->columns.n; c++) {
		struct st_tui_column *column = &p->columns.v[c];
		const size_t title = st_tui_width(column->title);
		column->width = column->width < title ? title : column->width;
		for (size_t row = p->top; row < p->n && row - p->top < height; row++) {
			char *cell = p->kind->cell(p, row, c);
			const size_t width = cell ? st_tui_width(cell) : 0;
			column->width = column->width < width ? width : column->width;
			free(cell);
		}
	}
}

/* Chooses the columns that fit: from the left, and always the last one. */
static struct frame_columns
frame_choose(struct st_tui_page *p, size_t columns)
{
	struct frame_columns shown = {0};
	p->more = false;
	const size_t n = p->columns.n;
	size_t last = columns * 2 / 5, used = 0;
	if (n && last > p->columns.v[n - 1].width)
		last = p->columns.v[n - 1].width;
	for (size_t c = p->first; c < n && shown.n + 1 < FRAME_MOST_CELLS; c++) {
		const size_t most = columns * 2 / 5;
		size_t width = p->columns.v[c].width;
		if (c + 1 < n && p->columns.v[c].left && width > most)
			width = most;
		if (c + 1 < n && used + width + FRAME_GAP + last > columns) {
			p->more = true;
			continue;
		}
		if (c + 1 == n) /* a number is not padded up to the end of the line */
			width = p->columns.v[c].left || used + width > columns ? columns - used
			                                                       : width;
		shown.of[shown.n] = c;
		shown.width[shown.n++] = width;
		used += width + FRAME_GAP;
	}
	return shown;
}

/* A cell, padded or cut to the width of its column; the last column may be scrolled. */
static char *
frame_cell(const struct st_tui_page *p, size_t row, const struct frame_columns *shown, size_t i)
{
	const size_t c = shown->of[i], width = shown->width[i];
	const bool left = p->columns.v[c].left, last = i + 1 == shown->n;
	char *cell = row == SIZE_MAX ? strdup(p->columns.v[c].title) : p->kind->cell(p, row, c);
	if (!cell)
		return NULL;
	/* Lines of text and scrolled cells are cut at their end, names in their middle. */
	const bool moved = last && left && p->shift && row != SIZE_MAX;
	const bool text = left && !*p->columns.v[c].title;
	char *fitted = moved || text ? st_tui_cut(st_tui_skip(cell, moved ? p->shift : 0), width)
	                             : st_tui_fit(cell, width, left);
	free(cell);
	return fitted;
}

/* A row; SIZE_MAX: the titles of the columns. malloc'ed; NULL: no memory. */
static char *
frame_row(const struct st_tui_page *p, size_t row, const struct frame_columns *shown,
          size_t columns)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	for (size_t i = 0; out && i < shown->n; i++) {
		char *cell = frame_cell(p, row, shown, i);
		fprintf(out, "%s%s", i ? "  " : "", cell ? cell : "");
		free(cell);
	}
	char *line = out ? st_text_end(&built) : NULL;
	char *cut = line ? st_tui_cut(line, columns) : NULL;
	free(line);
	return cut;
}

/* The whole name in the row of the cursor, empty if the row shows all of it. malloc'ed; NULL: no
 * memory. */
static char *
frame_detail(struct st_tui_page *p, size_t columns)
{
	const struct frame_columns shown = frame_choose(p, columns);
	const size_t i = shown.n - 1, c = shown.n ? shown.of[i] : 0;
	char *cell = shown.n && p->columns.v[c].left && p->cursor < p->n
	                     ? p->kind->cell(p, p->cursor, c)
	                     : strdup("");
	if (!cell)
		return NULL;
	const char *name = cell + strspn(cell, " ");
	const bool fits = !p->shift && (!shown.n || st_tui_width(cell) <= shown.width[i]);
	char *line = fits ? st_tui_cut("", columns) : st_tui_fit(name, columns, true);
	free(cell);
	return line;
}

static enum st_tui_style
frame_style(const struct st_tui_page *p, size_t row)
{
	static const enum st_tui_style styles[] = {[ST_TUI_PLAIN] = ST_TUI_STYLE_PLAIN,
	                                           [ST_TUI_HOT] = ST_TUI_STYLE_HOT,
	                                           [ST_TUI_WARM] = ST_TUI_STYLE_WARM,
	                                           [ST_TUI_HEAD] = ST_TUI_STYLE_HEAD};
	if (row == p->cursor)
		return ST_TUI_STYLE_CURSOR;
	return p->kind->look ? styles[p->kind->look(p, row)] : ST_TUI_STYLE_PLAIN;
}

static st_status
frame_rows(struct st_tui_frame *f, struct st_tui_page *p, size_t height, size_t columns,
           bool titles)
{
	frame_measure(p, height);
	const struct frame_columns shown = frame_choose(p, columns);
	if (titles && frame_add(f, frame_row(p, SIZE_MAX, &shown, columns), ST_TUI_STYLE_BAR))
		return ST_FAILED;
	for (size_t i = 0; i < height; i++) {
		const size_t row = p->top + i;
		char *text =
		        row < p->n ? frame_row(p, row, &shown, columns) : st_tui_cut("", columns);
		if (row == p->cursor)
			f->line = f->lines.n;
		if (frame_add(f, text, row < p->n ? frame_style(p, row) : ST_TUI_STYLE_PLAIN))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- the first and the last line ---- */

static char *
frame_title(const struct st_tui *t, const struct st_tui_page *p, size_t columns)
{
	struct st_text built;
	char at[ST_NUMBER_SIZE], all[ST_NUMBER_SIZE];
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	fprintf(out, "%s", t->file);
	for (size_t i = 0; i < t->pages.n; i++)
		fprintf(out, "%s%s", i ? " > " : "  ", t->pages.v[i]->title);
	char *title = st_text_end(&built), *clean = title ? st_printable(title) : NULL;
	char *count = st_text_of("  %s/%s", st_number(at, p->n ? p->cursor + 1 : 0),
	                         st_number(all, p->n));
	const size_t width = count ? st_tui_width(count) : 0;
	char *fitted = clean && count
	                       ? st_tui_fit(clean, columns > width ? columns - width : 0, true)
	                       : NULL;
	char *line = fitted ? st_text_of("%s%s", fitted, count) : NULL;
	char *cut = line ? st_tui_cut(line, columns) : NULL;
	free(title);
	free(clean);
	free(count);
	free(fitted);
	free(line);
	return cut;
}

static char *
frame_last(const struct st_tui *t, const struct st_tui_page *p, struct st_tui_frame *f,
           size_t columns)
{
	char *line = NULL;
	if (t->prompt.open) {
		line = st_text_of("/%s%s%s", t->prompt.text, *t->message ? "   " : "", t->message);
		f->typing = true;
		f->column = 1 + st_tui_width(t->prompt.text);
		f->line = f->lines.n;
	} else if (*t->message) {
		line = st_text_of("%s", t->message);
	} else {
		line = st_text_of(
		        "? help  q %s  %s/ search  v views  %s", p->transient ? "close" : "quit",
		        p->more ? "> more columns  " : "", p->kind->keys ? p->kind->keys : "");
	}
	char *clean = line ? st_printable(line) : NULL;
	char *cut = clean ? st_tui_cut(clean, columns) : NULL;
	free(line);
	free(clean);
	return cut;
}

/* ---- the screen ---- */

static bool
frame_has_titles(const struct st_tui_page *p)
{
	for (size_t i = 0; i < p->columns.n; i++)
		if (*p->columns.v[i].title)
			return true;
	return false;
}

st_status
st_tui_frame_make(struct st_tui_frame *f, struct st_tui *t, size_t lines, size_t columns)
{
	struct st_tui_page *p = st_tui_top(t);
	const bool all = lines >= FRAME_ALL_LINES, titles = all && frame_has_titles(p);
	/* A text that is being typed is shown on every screen of two lines or more. */
	const bool last = all || (lines > 1 && t->prompt.open);
	const bool detail = lines >= FRAME_DETAIL;
	*f = (struct st_tui_frame){0};
	t->height = lines - all - titles - detail - last;
	st_tui_page_scroll(p, t->height);
	if (all && frame_add(f, frame_title(t, p, columns), ST_TUI_STYLE_HEAD))
		return ST_FAILED;
	if (frame_rows(f, p, t->height, columns, titles))
		return ST_FAILED;
	if (detail && frame_add(f, frame_detail(p, columns), ST_TUI_STYLE_HEAD))
		return ST_FAILED;
	if (last && frame_add(f, frame_last(t, p, f, columns), ST_TUI_STYLE_BAR))
		return ST_FAILED;
	if (columns && f->column >= columns)
		f->column = columns - 1;
	return ST_OK;
}

void
st_tui_frame_free(struct st_tui_frame *f)
{
	for (size_t i = 0; i < f->lines.n; i++)
		free(f->lines.v[i].text);
	free(f->lines.v);
	*f = (struct st_tui_frame){0};
}
