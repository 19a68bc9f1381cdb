/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reconstruct/read.h"

enum { EVENT, BLOCK, STACK, FRAME, COLUMNS };

static const struct {
	const char *name;
	enum strobe_type type;
} columns[COLUMNS] = {[EVENT] = {"event", STROBE_TEXT},
                      [BLOCK] = {"block", STROBE_ADDRESS},
                      [STACK] = {"stack", STROBE_HEX},
                      [FRAME] = {"frame", STROBE_HEX}};

st_status
st_path_check(const struct st_row_reader *r, struct st_error *e)
{
	const struct st_profile_table *s = st_row_reader_stream(r);
	bool is = s->n_columns == COLUMNS;
	for (size_t i = 0; is && i < COLUMNS; i++)
		is = s->columns[i].type == columns[i].type &&
		     !strcmp(s->columns[i].name, columns[i].name);
	return is ? 0
	          : st_fail(e, ST_EXIT_USAGE,
	                    "these rows are not a path; strobe run -t branches:trace records one");
}

int
st_path_next(struct st_row_reader *r, struct st_path_row *row, struct st_error *e)
{
	struct st_row_shown shown;
	int more = st_row_reader_next(r, &shown, e);
	if (more <= 0)
		return more;
	const struct st_profile_value *v = shown.values;
	*row = (struct st_path_row){.event = !strcmp(v[EVENT].text, "block")    ? ST_PATH_BLOCK
	                                     : !strcmp(v[EVENT].text, "signal") ? ST_PATH_SIGNAL
	                                                                        : ST_PATH_GAP,
	                            .process = shown.process,
	                            .image = v[BLOCK].image,
	                            .pid = shown.pid,
	                            .tid = shown.tid,
	                            .offset = v[BLOCK].number,
	                            .sp = v[STACK].number,
	                            .bp = v[FRAME].number};
	return 1;
}

/* The walk knows an image before it is told of a place in it. */
static st_status
know_image(struct st_walk *w, const struct st_row_reader *r, uint32_t index)
{
	const struct st_profile *p = st_row_reader_profile(r);
	if (index >= p->images.n || index < w->code.images.n)
		return 0;
	for (size_t i = w->code.images.n; i <= index; i++)
		if (st_code_add_image(&w->code, (uint32_t)i, st_row_reader_image(r, (uint32_t)i),
		                      p->images.v[i].path))
			return -1;
	return 0;
}

static st_status
read_take(struct st_walk *w, const struct st_row_reader *r, const struct st_path_row *row)
{
	uint32_t thread = st_walk_thread(w, row->process, row->pid, row->tid);
	if (thread == UINT32_MAX)
		return -1;
	if (row->event == ST_PATH_GAP)
		return st_walk_gap(w, thread);
	if (row->event == ST_PATH_SIGNAL)
		return st_walk_signal(w, thread);
	return know_image(w, r, row->image) ||
	                       st_walk_block(w, thread, row->image, row->offset, row->sp, row->bp)
	               ? -1
	               : 0;
}

st_status
st_path_take(struct st_walk *w, const struct st_row_reader *r, const struct st_path_row *row,
             struct st_error *e)
{
	return read_take(w, r, row) ? st_fail(e, ST_EXIT_FAILED, "no memory left for the path") : 0;
}

int
st_path_read(struct st_walk *w, struct st_row_reader *r, void (*tell)(void *arg, uint64_t rows),
             void *arg, struct st_error *e)
{
	struct st_path_row row;
	uint64_t rows = 0;
	int more;
	if (st_path_check(r, e))
		return -1;
	while ((more = st_path_next(r, &row, e)) > 0) {
		if (st_path_take(w, r, &row, e))
			return -1;
		if (tell && ++rows % ST_PATH_TOLD == 0)
			tell(arg, rows);
	}
	if (st_walk_end(w))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the path");
	return more < 0;
}
