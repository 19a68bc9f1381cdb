/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/column.h"

enum { FORM_CELLS, FORM_NUMBERS, FORM_STEPS, FORM_TEXTS };

static void
column_add_cell(struct st_column_writer *w, const struct st_cell *cell)
{
	unsigned char kind = (unsigned char)cell->kind;
	st_bytes_add(&w->cells, &kind, 1);
	if (cell->kind == ST_CELL_NUMBER)
		st_bytes_number(&w->cells, st_zigzag(cell->number));
	else if (cell->kind == ST_CELL_REAL)
		st_bytes_add(&w->cells, &cell->real, sizeof cell->real);
	else if (cell->kind != ST_CELL_NULL)
		st_bytes_piece(&w->cells, cell->bytes, cell->n);
}

/* The difference of two numbers is computed without a sign: it may not fit. */
static void
column_add_number(struct st_column_writer *w, int64_t number)
{
	st_bytes_number(&w->numbers, st_zigzag(number));
	st_bytes_number(&w->steps, st_zigzag((int64_t)((uint64_t)number - (uint64_t)w->before)));
	w->falls += w->n && number < w->before;
	w->before = number;
}

/* Only the forms that are still possible are kept, so that a column costs no more than it must. */
void
st_column_add(struct st_column_writer *w, const struct st_cell *cell)
{
	w->other_than_number |= cell->kind != ST_CELL_NUMBER;
	w->other_than_text |= cell->kind != ST_CELL_TEXT;
	if (!w->other_than_number)
		column_add_number(w, cell->number);
	if (!w->other_than_text)
		st_bytes_piece(&w->texts, cell->bytes, cell->n);
	column_add_cell(w, cell);
	w->n++;
}

void
st_column_end(struct st_column_writer *w, struct st_bytes *out)
{
	unsigned char form = FORM_CELLS;
	const struct st_bytes *body = &w->cells;
	if (!w->other_than_number) {
		bool rises = w->falls * 16 <= w->n;
		form = rises ? FORM_STEPS : FORM_NUMBERS;
		body = rises ? &w->steps : &w->numbers;
	} else if (!w->other_than_text) {
		form = FORM_TEXTS;
		body = &w->texts;
	}
	st_bytes_add(out, &form, 1);
	st_bytes_add(out, body->v, body->n);
	out->failed |= w->cells.failed | w->numbers.failed | w->steps.failed | w->texts.failed;
	st_bytes_free(&w->cells);
	st_bytes_free(&w->numbers);
	st_bytes_free(&w->steps);
	st_bytes_free(&w->texts);
	*w = (struct st_column_writer){0};
}

struct st_column_reader
st_column_read(const void *bytes, size_t n)
{
	struct st_column_reader r = {.cut = st_cut_of(bytes, n)};
	const unsigned char *form = st_cut_take(&r.cut, 1);
	if (form && *form <= FORM_TEXTS)
		r.form = *form;
	else
		r.cut.bad = true;
	return r;
}

static void
column_next_piece(struct st_column_reader *r, struct st_cell *cell)
{
	struct st_cut piece = st_cut_piece(&r->cut);
	cell->bytes = piece.at;
	cell->n = piece.bad ? 0 : (size_t)(piece.end - piece.at);
}

static void
column_next_cell(struct st_column_reader *r, struct st_cell *cell)
{
	const unsigned char *kind = st_cut_take(&r->cut, 1), *real;
	cell->kind = kind && *kind <= ST_CELL_BLOB ? *kind : ST_CELL_NULL;
	r->cut.bad |= !kind || *kind > ST_CELL_BLOB;
	if (cell->kind == ST_CELL_NUMBER) {
		cell->number = st_unzigzag(st_cut_number(&r->cut));
	} else if (cell->kind == ST_CELL_REAL) {
		real = st_cut_take(&r->cut, sizeof cell->real);
		if (real)
			memcpy(&cell->real, real, sizeof cell->real);
	} else if (cell->kind != ST_CELL_NULL) {
		column_next_piece(r, cell);
	}
}

bool
st_column_next(struct st_column_reader *r, struct st_cell *cell)
{
	*cell = (struct st_cell){.kind = ST_CELL_NUMBER};
	if (r->cut.bad || r->cut.at == r->cut.end)
		return false;
	if (r->form == FORM_CELLS) {
		column_next_cell(r, cell);
	} else if (r->form == FORM_TEXTS) {
		cell->kind = ST_CELL_TEXT;
		column_next_piece(r, cell);
	} else {
		cell->number = st_unzigzag(st_cut_number(&r->cut));
		if (r->form == FORM_STEPS)
			cell->number = (int64_t)((uint64_t)r->before + (uint64_t)cell->number);
		r->before = cell->number;
	}
	return !r->cut.bad;
}
