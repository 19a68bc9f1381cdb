/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tools' tables. First the rows of all processes are read, and merged where they are the same
 * places of the same images, or of the same functions or lines where the table asks for those: that
 * leaves few of many. When the functions are known, the places get theirs, and what is then the
 * same is merged again: code that has names for a process only.
 */
#include "collect/shower.h"

/* Whether what the results say of the table can be true. */
static bool
collect_tables_sane(const struct st_view_table *in)
{
	if (!in->n_columns)
		return false;
	for (uint32_t i = 0; i < in->n_columns; i++) {
		const struct st_column *c = &in->table->columns[i];
		bool key = i < in->n_keys;
		if (c->type > STROBE_CALLER_LINE || c->role > STROBE_IS_MIN ||
		    key != (c->role == STROBE_IS_KEY))
			return false;
		if (!key && st_profile_shape(c->type) != ST_VALUE_NUMBER)
			return false;
	}
	return true;
}

static const char *
collect_tables_tool_name(const struct st_collect *c, uint32_t tool)
{
	return tool < c->origin->n_tools ? c->origin->tools[tool] : c->origin->tool;
}

static bool
collect_tables_is_same(const struct st_profile_table *a, const struct st_profile_table *b)
{
	bool same = a->name == b->name && a->tool == b->tool && a->n_columns == b->n_columns &&
	            a->n_keys == b->n_keys;
	for (size_t i = 0; same && i < a->n_columns; i++)
		same = a->columns[i].name == b->columns[i].name &&
		       a->columns[i].type == b->columns[i].type &&
		       a->columns[i].role == b->columns[i].role;
	return same;
}

/* A line has been chosen when a row is in the profile. */
static enum strobe_type
kept_type(enum strobe_type type)
{
	return type == STROBE_CALLER_LINE ? STROBE_LINE : type;
}

/* The profile's table for one of a process, made when there is none. Index, or -1. */
static int64_t
collect_tables_find_table(struct st_collect *c, const struct st_view *v,
                          const struct st_view_table *in)
{
	struct st_profile *p = c->profile;
	struct st_profile_table t = {
	        .name = st_collect_intern(c, st_view_string(v, in->table->name)),
	        .help = st_collect_intern(c, st_view_string(v, in->table->help)),
	        .tool = st_collect_intern(c, collect_tables_tool_name(c, in->table->tool)),
	        .n_columns = in->n_columns,
	        .n_keys = in->n_keys};
	for (uint32_t i = 0; i < in->n_columns; i++) {
		const struct st_column *column = &in->table->columns[i];
		t.columns[i].name = st_collect_intern(c, st_view_string(v, column->name));
		t.columns[i].type = kept_type(column->type);
		t.columns[i].role = column->role;
	}
	for (size_t i = 0; i < p->tables.n; i++)
		if (collect_tables_is_same(&p->tables.v[i], &t))
			return (int64_t)i;
	struct st_profile_table *out = ST_PUSH(&p->tables);
	if (!out || !ST_PUSH(&c->rows))
		return -1;
	*out = t;
	return (int64_t)p->tables.n - 1;
}

/* Adds a row once its keys from `column` on are filled, for each register that a key stands for. */
static st_status
add_from(struct st_shower *s, struct st_rows *rows, const uint64_t *raw, size_t column,
         struct st_profile_value *row)
{
	const struct st_profile_table *t = rows->table;
	const char *names[ST_MOST_REGISTERS];
	while (column < t->n_keys && t->columns[column].type != STROBE_REGISTERS_READ &&
	       t->columns[column].type != STROBE_REGISTERS_WRITTEN)
		column++;
	if (column == t->n_keys)
		return st_rows_add(rows, row);
	size_t n = st_shower_registers(s, t->columns[column].type, raw[column], names);
	for (size_t i = 0; i < n; i++) {
		row[column].text = names[i];
		if (add_from(s, rows, raw, column + 1, row))
			return -1;
	}
	return 0;
}

/* Whether something was counted there. A row is made when code is translated, which may never run:
 * such a row says nothing. */
static bool
says_something(const struct st_profile_table *t, const uint64_t *raw)
{
	bool says = t->n_keys == t->n_columns;
	for (size_t i = t->n_keys; i < t->n_columns; i++)
		says |= raw[i] != 0;
	return says;
}

/* Whether many places may have one value. */
static bool
is_folded(enum strobe_type type)
{
	return type == STROBE_FUNCTION || st_profile_shape(type) == ST_VALUE_LINE;
}

/* Whether rows of different places may become the same: those of a line or a function. */
static bool
may_merge(const struct st_profile_table *t)
{
	bool may = false;
	for (size_t i = 0; i < t->n_keys; i++)
		may |= is_folded(t->columns[i].type);
	return may;
}

/* In place of a place, the entry of its function. */
static void
go_to_entry(struct st_collect *c, struct st_profile_value *value)
{
	struct st_image *image = c->opened.v[value->image];
	const struct st_function *f = image ? st_image_function(image, value->number) : NULL;
	const struct st_function *whole =
	        f && f->whole != f->offset ? st_image_function(image, f->whole) : NULL;
	if (f)
		value->number = whole ? whole->offset : f->offset;
}

/* In place of a place, its line, or else the entry of its function. */
static void
go_to_line(struct st_collect *c, enum strobe_type type, struct st_profile_value *value)
{
	struct st_line line;
	struct st_image *image = c->opened.v[value->image];
	if (image && !st_collect_line(image, type, value->number, &line)) {
		value->text = st_collect_intern(c, line.file);
		value->number = line.line;
		value->image = UINT32_MAX;
		return;
	}
	go_to_entry(c, value);
}

/* A table of functions or lines has far fewer of them than there are places. */
static void
fold(struct st_collect *c, enum strobe_type type, struct st_profile_value *key)
{
	if (key->image == UINT32_MAX)
		return;
	if (type == STROBE_FUNCTION)
		go_to_entry(c, key);
	else if (st_profile_shape(type) == ST_VALUE_LINE)
		go_to_line(c, type, key);
}

static st_status
read_row(struct st_shower *s, struct st_rows *rows, const struct st_column *columns,
         const uint64_t *raw)
{
	const struct st_profile_table *t = rows->table;
	struct st_profile_value row[STROBE_MOST_COLUMNS];
	if (!says_something(t, raw))
		return 0;
	for (size_t i = 0; i < t->n_columns; i++) {
		if (st_shower_value(s, &t->columns[i], raw[i], &row[i]))
			return -1;
		if (i < t->n_keys)
			fold(s->c, columns[i].type, &row[i]);
	}
	return add_from(s, rows, raw, 0, row);
}

/* Row 0 takes what found no room. */
static void
read_others(struct st_shower *s, struct st_profile_table *t, const uint64_t *raw)
{
	struct st_profile_value row[STROBE_MOST_COLUMNS] = {0};
	if (t->n_keys == t->n_columns || !says_something(t, raw))
		return;
	for (size_t i = t->n_keys; i < t->n_columns; i++)
		ST_IGNORE(st_shower_value(s, &t->columns[i], raw[i], &row[i]));
	st_rows_add_up(t, t->others, row);
	t->has_others = true;
}

/* For the rows of a process at once, so that the kernel may give large pages. */
static bool
collect_tables_make_room(struct st_profile_table *t, const struct st_view_table *in,
                         const uint64_t *numbers)
{
	size_t n = 0;
	for (uint32_t i = 1; i < in->n_rows; i++)
		n += says_something(t, numbers + (size_t)i * in->n_columns);
	return !n || ST_RESERVE(&t->values, n * t->n_columns);
}

static st_status
collect_tables_read_table(struct st_shower *s, uint32_t index, const uint64_t *numbers)
{
	const struct st_view_table *in = &s->v->tables[index];
	if (!collect_tables_sane(in)) {
		st_profile_note(s->c->profile, "a table of the results is damaged: it was left "
		                               "out, and the others are complete");
		return 0;
	}
	int64_t at = collect_tables_find_table(s->c, s->v, in);
	if (at < 0)
		return -1;
	struct st_profile_table *t = &s->c->profile->tables.v[at];
	struct st_rows *rows = &s->c->rows.v[at];
	rows->table = t;
	if (in->n_rows)
		read_others(s, t, numbers);
	if (!may_merge(t) && !collect_tables_make_room(t, in, numbers))
		return -1;
	for (uint32_t i = 1; i < in->n_rows; i++)
		if (read_row(s, rows, in->table->columns, numbers + (size_t)i * in->n_columns))
			return -1;
	return 0;
}

st_status
st_collect_tables(struct st_collect *c, const struct st_view *v,
                  const struct st_view_totals *totals, double tsc_hz)
{
	struct st_shower s;
	if (!v->n_tables)
		return 0;
	int status = st_shower_open(&s, c, v, tsc_hz);
	for (uint32_t i = 0; i < v->n_tables && !status; i++)
		status = collect_tables_read_table(&s, i, totals->rows[i]);
	st_shower_close(&s);
	return status;
}

/* Entries of functions that stand for places become known places themselves. */
static st_status
learn_entries(struct st_collect *c, const struct st_profile_table *t)
{
	for (size_t i = 0; i < t->values.n; i += t->n_columns)
		for (size_t k = 0; k < t->n_keys; k++) {
			const struct st_profile_value *v = &t->values.v[i + k];
			if (v->image == UINT32_MAX || !is_folded(t->columns[k].type))
				continue;
			struct st_hit *hit = ST_PUSH(&c->hits);
			if (!hit)
				return -1;
			*hit = (struct st_hit){
			        .image = v->image, .offset = v->number, .where = ST_HIT_FRAME};
		}
	return 0;
}

st_status
st_collect_entries(struct st_collect *c)
{
	int status = 0;
	for (size_t i = 0; i < c->profile->tables.n && !status; i++)
		if (may_merge(&c->profile->tables.v[i]))
			status = learn_entries(c, &c->profile->tables.v[i]);
	return status;
}

/* Gives a place its function. */
static void
resolve_place(const struct st_collect *c, enum strobe_type type, struct st_profile_value *value)
{
	uint32_t at = st_collect_function_at(c, value->image, value->number);
	if (at >= c->profile->functions.n || !c->profile->functions.v[at].size)
		return;
	value->function = at;
	value->text = c->profile->functions.v[at].name;
	if (type == STROBE_FUNCTION)
		value->number = c->profile->functions.v[at].offset;
}

static void
resolve_row(const struct st_collect *c, const struct st_profile_table *t,
            struct st_profile_value *row)
{
	for (size_t i = 0; i < t->n_keys; i++) {
		enum st_shape_of_value shape = st_profile_shape(t->columns[i].type);
		if (row[i].image == UINT32_MAX)
			continue;
		if (shape == ST_VALUE_PLACE)
			resolve_place(c, t->columns[i].type, &row[i]);
		else if (shape == ST_VALUE_LINE)
			resolve_place(c, STROBE_FUNCTION, &row[i]);
		if (shape == ST_VALUE_LINE)
			row[i].text = NULL;
	}
}

static st_status
merge_rows(struct st_profile_table *t)
{
	__typeof__(t->values) raw = t->values;
	struct st_rows rows = {.table = t};
	int status = 0;
	t->values = (__typeof__(t->values)){0};
	for (size_t i = 0; i < raw.n && !status; i += t->n_columns)
		status = st_rows_add(&rows, raw.v + i);
	st_rows_free(&rows);
	free(raw.v);
	return status;
}

static st_status
finish_table(struct st_collect *c, struct st_profile_table *t, const uint32_t *ranks)
{
	for (size_t i = 0; i < t->values.n; i += t->n_columns)
		resolve_row(c, t, t->values.v + i);
	return may_merge(t) && merge_rows(t) ? -1 : st_rows_sort(t, ranks);
}

static int
name_order(const void *a, const void *b, void *arg)
{
	const struct st_profile *p = arg;
	return strcmp(p->functions.v[*(const uint32_t *)a].name,
	              p->functions.v[*(const uint32_t *)b].name);
}

/* Sets the ranks of the functions' names; order: room for as many. */
static void
rank_names(struct st_profile *p, uint32_t *order, uint32_t *ranks)
{
	const char *last = "";
	uint32_t rank = 0;
	for (uint32_t i = 0; i < p->functions.n; i++)
		order[i] = i;
	qsort_r(order, p->functions.n, sizeof *order, name_order, p);
	for (size_t i = 0; i < p->functions.n; i++) {
		const char *name = p->functions.v[order[i]].name;
		rank += strcmp(last, name) != 0;
		ranks[order[i]] = rank;
		last = name;
	}
}

st_status
st_collect_finish_tables(struct st_collect *c)
{
	size_t n = c->profile->functions.n;
	uint32_t *ranks = calloc(n + 1, sizeof *ranks), *order = calloc(n + 1, sizeof *order);
	int status = ranks && order ? 0 : -1;
	if (!status && c->profile->tables.n)
		rank_names(c->profile, order, ranks);
	for (size_t i = 0; i < c->profile->tables.n && !status; i++)
		status = finish_table(c, &c->profile->tables.v[i], ranks);
	free(order);
	free(ranks);
	return status;
}
