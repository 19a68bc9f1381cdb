/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows from the processes into files, one for each stream, with what is needed to read them. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/frequency.h"
#include "base/number.h"
#include "base/text.h"
#include "rows/rowcodec.h"
#include "rows/rowfile_out.h"

enum {
	CHUNK_MOST = ST_CHUNK_BYTES + ST_CHUNK_SLACK,
	MOST_FILES = 64 /* of a run: names are what the program's memory says */
};

struct file {
	struct st_row_out out;
	const char *name, *help, *tool; /* in the writer's texts */
	uint64_t dropped;               /* by the runtime */
	bool knows_first;               /* it has the record of the first process */
};

/* The definitions of a process that have been written. */
struct told {
	uint32_t strings, maps, sites;
	struct st_map *map; /* as they were told */
	uint32_t frame;     /* in which the codec forgot last */
	struct st_codec *codec;
	unsigned char threads[ST_MAX_THREADS / 8];
};

struct process {
	const struct st_results_header *results;
	uint32_t number;
	uint64_t off_strings, off_maps, off_threads, off_sites; /* as they were at first */
	struct stream {
		struct file *file; /* NULL: not known yet */
		struct told *told;
	} streams[ST_MAX_STREAMS];
};

struct st_row_writer {
	struct st_row_place place;
	const char *const *tools;
	size_t n_tools;
	struct st_rows_process first;
	uint32_t n_begun;
	struct st_moment begin;
	ST_VEC(struct process) processes; /* that run */
	ST_VEC(struct file *) files;
	struct st_profile *texts; /* owns the files' texts */
	int reserve; /* a file without a name: room on the disk for the profile; -1: none */
	bool damaged, out_of_memory;
};

struct st_row_writer *
st_row_writer_new(const struct st_row_place *place, const char *const *tools, size_t n_tools)
{
	struct st_row_writer *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->place = *place;
	w->tools = tools;
	w->n_tools = n_tools;
	w->reserve = -1;
	w->begin = st_moment_now();
	w->texts = st_profile_new();
	if (w->texts)
		return w;
	st_row_writer_free(w);
	return NULL;
}

static void
forget_process(struct process *p)
{
	for (unsigned i = 0; i < ST_MAX_STREAMS; i++) {
		struct told *t = p->streams[i].told;
		if (!t)
			continue;
		st_codec_free(t->codec);
		free(t->map);
		free(t);
	}
}

void
st_row_writer_free(struct st_row_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->processes.n; i++)
		forget_process(&w->processes.v[i]);
	for (size_t i = 0; i < w->files.n; i++) {
		st_row_out_close(&w->files.v[i]->out);
		free(w->files.v[i]);
	}
	free(w->processes.v);
	free(w->files.v);
	if (w->reserve >= 0)
		close(w->reserve);
	st_profile_free(w->texts);
	free(w);
}

static double
tsc_hz(const struct st_row_writer *w)
{
	return st_moments_frequency(w->begin, st_moment_now());
}

static bool
rowfile_write_fits(uint64_t offset, uint64_t bytes, size_t size)
{
	return offset % 8 == 0 && offset <= size && bytes <= size - offset;
}

static struct st_rows_process
rowfile_write_process(const struct st_results_header *h)
{
	return (struct st_rows_process){h->layout.pid, h->layout.ppid, h->run.tsc_begin};
}

void
st_row_writer_begin(void *arg, const struct st_results_header *h, size_t size)
{
	struct st_row_writer *w = arg;
	struct process p = {.results = h,
	                    .number = w->n_begun++,
	                    .off_strings = h->layout.off_strings,
	                    .off_maps = h->layout.off_maps,
	                    .off_threads = h->layout.off_threads,
	                    .off_sites = h->layout.off_sites};
	if (!p.number)
		w->first = rowfile_write_process(h);
	if (!rowfile_write_fits(p.off_strings, ST_STRINGS_BYTES, size) ||
	    !rowfile_write_fits(p.off_maps, ST_MAX_MAPS * sizeof(struct st_map), size) ||
	    !rowfile_write_fits(p.off_threads, ST_MAX_THREADS * sizeof(struct st_thread), size) ||
	    !rowfile_write_fits(p.off_sites, ST_MAX_SITES * sizeof(strobe_site), size))
		return;
	struct process *out = ST_PUSH(&w->processes);
	if (out)
		*out = p;
	else
		w->out_of_memory = true;
}

static struct process *
find_process(struct st_row_writer *w, const struct st_results_header *h)
{
	for (size_t i = 0; i < w->processes.n; i++)
		if (w->processes.v[i].results == h)
			return &w->processes.v[i];
	return NULL;
}

/* A string of the process, in the writer's memory. */
static const char *
string_of(struct st_row_writer *w, const struct process *p, uint32_t offset)
{
	uint32_t n = p->results->strings.n;
	const char *strings = st_section(p->results, p->off_strings);
	if (n > ST_STRINGS_BYTES || offset >= n)
		return "";
	size_t length = strnlen(strings + offset, n - offset);
	return st_profile_textf(w->texts, "%.*s", (int)(length < 200 ? length : 200),
	                        strings + offset);
}

/* The name as a part of a file's name. */
static char *
path_for(const struct st_row_writer *w, const char *name, size_t number)
{
	char *path = NULL, pid[16] = "", clean[64], again[16] = "";
	if (w->place.with_pid)
		snprintf(pid, sizeof pid, "%u", w->first.pid);
	if (number)
		snprintf(again, sizeof again, "-%zu", number + 1);
	snprintf(clean, sizeof clean, "%s", name);
	for (unsigned char *c = (unsigned char *)clean; *c; c++)
		if (*c == '/' || *c < ' ' || *c >= 0x7f)
			*c = '_';
	if (asprintf(&path, "%s%s%s.%s%s.rows", w->place.before, pid, w->place.behind, clean,
	             again) < 0)
		return NULL;
	return path;
}

/* Rows can fill a disk; what was counted should still find its place there. */
static void
reserve_room(struct st_row_writer *w, const char *path)
{
	enum { ROOM = 4 << 20 };
	const char *slash = strrchr(path, '/');
	char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (directory)
		w->reserve = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(directory);
	if (w->reserve >= 0 && fallocate(w->reserve, 0, 0, ROOM)) {
		close(w->reserve);
		w->reserve = -1;
	}
}

static void
rowfile_write_describe(struct file *f, struct st_row_writer *w, const struct process *p,
                       const struct st_stream *s)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return;
	fprintf(out, "%s%c%s%c%s%c", f->name, 0, f->help, 0, f->tool, 0);
	for (uint32_t i = 0; i < s->n_columns && i < ST_MAX_COLUMNS; i++) {
		uint16_t type = s->columns[i].type;
		fprintf(out, "%s%c%s%c",
		        st_profile_type_name(type <= STROBE_CALLER_LINE ? type : STROBE_NUMBER), 0,
		        string_of(w, p, s->columns[i].name), 0);
	}
	char *text = st_text_end(&built);
	void *record = text ? st_row_out_record(&f->out, ST_ROWS_STREAM, 0, built.n) : NULL;
	if (record)
		memcpy(record, text, built.n);
	free(text);
}

/* The file of a process' stream, made when it is the first of that name and tool. */
static struct file *
file_for(struct st_row_writer *w, const struct process *p, uint32_t stream)
{
	const struct st_stream *s = &p->results->streams.v[stream];
	const char *name = string_of(w, p, s->name);
	const char *tool = s->tool < w->n_tools ? w->tools[s->tool] : "";
	size_t namesakes = 0;
	for (size_t i = 0; i < w->files.n; i++) {
		if (strcmp(w->files.v[i]->name, name))
			continue;
		if (!strcmp(w->files.v[i]->tool, tool))
			return w->files.v[i];
		namesakes++;
	}
	if (w->files.n >= MOST_FILES)
		return NULL;
	char *path = path_for(w, name, namesakes);
	struct file *f = calloc(1, sizeof *f), **slot = ST_PUSH(&w->files);
	if (!path || !f || !slot) {
		w->files.n -= slot != NULL;
		w->out_of_memory = true;
		free(path);
		free(f);
		return NULL;
	}
	*slot = f;
	f->name = name;
	f->help = string_of(w, p, s->help);
	f->tool = tool;
	if (w->files.n == 1)
		reserve_room(w, path);
	st_row_out_open(&f->out, path);
	rowfile_write_describe(f, w, p, s);
	return f;
}

/* ---- telling what is needed to read the rows ---- */

static st_status
rowfile_write_tell(struct st_row_out *out, enum st_rows_kind kind, uint32_t process, uint64_t at,
                   const void *bytes, size_t n)
{
	unsigned char *record = st_row_out_record(out, kind, process, sizeof at + n);
	if (!record)
		return -1;
	memcpy(record, &at, sizeof at);
	memcpy(record + sizeof at, bytes, n);
	return 0;
}

static st_status
tell_strings(struct st_row_out *out, const struct process *p, struct told *t)
{
	uint32_t n = __atomic_load_n(&p->results->strings.n, __ATOMIC_ACQUIRE);
	const char *strings = st_section(p->results, p->off_strings);
	while (t->strings < n && n <= ST_STRINGS_BYTES) {
		uint32_t some = n - t->strings < ST_ROWS_PIECE ? n - t->strings : ST_ROWS_PIECE;
		if (rowfile_write_tell(out, ST_ROWS_STRINGS, p->number, t->strings,
		                       strings + t->strings, some))
			return -1;
		t->strings += some;
	}
	return 0;
}

/* New mappings, and those that have changed. */
static st_status
tell_maps(struct st_row_out *out, const struct process *p, struct told *t)
{
	uint32_t n = __atomic_load_n(&p->results->maps.n, __ATOMIC_ACQUIRE);
	const struct st_map *maps = st_section(p->results, p->off_maps);
	if (n > ST_MAX_MAPS)
		return 0;
	if (n > t->maps) {
		struct st_map *more = reallocarray(t->map, n, sizeof *more);
		if (!more)
			return -1;
		memset(more + t->maps, 0xff, (n - t->maps) * sizeof *more);
		t->map = more;
		t->maps = n;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!memcmp(&t->map[i], &maps[i], sizeof *maps))
			continue;
		t->map[i] = maps[i];
		if (rowfile_write_tell(out, ST_ROWS_MAP, p->number, i, &t->map[i], sizeof *maps))
			return -1;
	}
	return 0;
}

static st_status
tell_sites(struct st_row_out *out, const struct process *p, struct told *t)
{
	uint32_t n = __atomic_load_n(&p->results->streams.n_sites, __ATOMIC_ACQUIRE);
	const strobe_site *sites = st_section(p->results, p->off_sites);
	const uint32_t most = ST_ROWS_PIECE / sizeof *sites;
	while (t->sites < n && n <= ST_MAX_SITES) {
		uint32_t some = n - t->sites < most ? n - t->sites : most;
		if (rowfile_write_tell(out, ST_ROWS_SITES, p->number, t->sites, sites + t->sites,
		                       some * sizeof *sites))
			return -1;
		t->sites += some;
	}
	return 0;
}

static st_status
tell_thread(struct st_row_out *out, const struct process *p, struct told *t, uint32_t thread)
{
	const struct st_thread *threads = st_section(p->results, p->off_threads);
	if (thread >= ST_MAX_THREADS || t->threads[thread / 8] >> thread % 8 & 1)
		return 0;
	t->threads[thread / 8] |= (unsigned char)(1 << thread % 8);
	return rowfile_write_tell(out, ST_ROWS_THREAD, p->number, thread, &threads[thread],
	                          sizeof *threads);
}

/* Columns name other threads than the one that recorded the row. */
static st_status
tell_threads(struct st_row_out *out, const struct process *p, struct told *t)
{
	const struct st_thread *threads = st_section(p->results, p->off_threads);
	const uint32_t n = __atomic_load_n(&p->results->threads.n, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < n && i < ST_MAX_THREADS; i++)
		if (threads[i].tid && tell_thread(out, p, t, i))
			return ST_FAILED;
	return ST_OK;
}

static st_status
tell_process(struct st_row_out *out, uint32_t number, const struct st_rows_process *record)
{
	void *at = st_row_out_record(out, ST_ROWS_PROCESS, number, sizeof *record);
	if (!at)
		return ST_FAILED;
	memcpy(at, record, sizeof *record);
	return ST_OK;
}

/* When it began it says itself, after it was announced. */
static void
look_at_first(struct st_row_writer *w)
{
	for (size_t i = 0; i < w->processes.n; i++)
		if (!w->processes.v[i].number)
			w->first = rowfile_write_process(w->processes.v[i].results);
}

/* Times count from the beginning of the first process: a file knows it before all others, even if
 * its rows come later, or never. */
static struct told *
begin_process(struct st_row_writer *w, struct file *f, const struct process *p)
{
	const struct st_rows_process record = rowfile_write_process(p->results);
	struct told *t = calloc(1, sizeof *t);
	if (t)
		t->codec = st_codec_new();
	look_at_first(w);
	bool bad = !t || !t->codec || (!f->knows_first && tell_process(&f->out, 0, &w->first));
	f->knows_first = true;
	if (!bad && (!p->number || !tell_process(&f->out, p->number, &record)))
		return t;
	if (t)
		st_codec_free(t->codec);
	free(t);
	return NULL;
}

static st_status
add_rows(struct st_row_writer *w, struct file *f, const struct process *p, struct told *t,
         const struct st_row_chunk *chunk)
{
	struct st_encoded e;
	struct st_row_bytes *columns = f->out.columns;
	if (st_row_out_reserve(&f->out, chunk->bytes))
		return -1;
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		e.at[i] = columns[i].v + columns[i].n;
	if (t->frame != f->out.frame)
		st_codec_reset(t->codec);
	t->frame = f->out.frame;
	st_codec_encode(t->codec, chunk->rows, chunk->bytes, st_section(p->results, p->off_sites),
	                t->sites, &e);
	w->damaged |= !e.whole;
	const struct st_rows_rows head = {chunk->thread, e.n_rows};
	void *at = st_row_out_record(&f->out, ST_ROWS_ROWS, p->number, sizeof head);
	if (!at)
		return -1;
	memcpy(at, &head, sizeof head);
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++)
		columns[i].n = (size_t)(e.at[i] - columns[i].v);
	f->out.frame_rows += e.n_rows;
	return 0;
}

void
st_row_writer_take(void *arg, const struct st_results_header *h, const struct st_row_chunk *chunk)
{
	const double longest = 1; /* seconds that rows wait */
	struct st_row_writer *w = arg;
	struct process *p = find_process(w, h);
	if (!p || chunk->stream >= ST_MAX_STREAMS || chunk->bytes > CHUNK_MOST)
		return;
	struct stream *s = &p->streams[chunk->stream];
	if (!s->file)
		s->file = file_for(w, p, chunk->stream);
	if (s->file && !s->told)
		s->told = begin_process(w, s->file, p);
	struct st_row_out *out = s->file ? &s->file->out : NULL;
	if (!out || !s->told || tell_strings(out, p, s->told) || tell_maps(out, p, s->told) ||
	    tell_sites(out, p, s->told) || tell_thread(out, p, s->told, chunk->thread) ||
	    tell_threads(out, p, s->told) || add_rows(w, s->file, p, s->told, chunk)) {
		w->out_of_memory = true;
		return;
	}
	double t = st_now_raw();
	if (st_row_out_frame(out) >= ST_ROWS_FRAME || t - out->frame_begin > longest) {
		st_row_out_flush(out, tsc_hz(w));
		out->frame_begin = t;
	}
}

void
st_row_writer_end(void *arg, const struct st_results_header *h)
{
	struct st_row_writer *w = arg;
	struct process *p = find_process(w, h);
	if (!p)
		return;
	for (unsigned i = 0; i < ST_MAX_STREAMS && i < h->streams.n; i++) {
		if (!p->streams[i].file && !h->streams.v[i].consumed)
			p->streams[i].file = file_for(w, p, i);
		if (p->streams[i].file)
			p->streams[i].file->dropped += h->streams.v[i].dropped;
	}
	look_at_first(w);
	forget_process(p);
	*p = w->processes.v[--w->processes.n];
}

/* ---- at the end ---- */

static void
note_loss(struct st_profile *p, const struct file *f)
{
	if (f->out.error)
		st_profile_note(p, "the rows of %s could not be written to %s: %s; %s lost",
		                f->name, f->out.path, strerror(f->out.error),
		                ST_COUNT(f->out.lost, "row was", "rows were"));
	if (f->dropped)
		st_profile_note(
		        p, "%s dropped from %s because strobe could not write them fast enough",
		        ST_COUNT(f->dropped, "row was", "rows were"), f->name);
}

st_status
st_row_writer_finish(struct st_row_writer *w, struct st_profile *p)
{
	for (size_t i = 0; i < w->files.n; i++) {
		struct file *f = w->files.v[i];
		st_row_out_flush(&f->out, p->run.tsc_hz);
		struct st_profile_stream *s = ST_PUSH(&p->streams);
		if (!s)
			return -1;
		*s = (struct st_profile_stream){
		        .name = st_profile_text(p, f->name),
		        .help = st_profile_text(p, f->help),
		        .tool = st_profile_text(p, f->tool),
		        .file = f->out.bytes ? st_profile_text(p, f->out.path) : NULL,
		        .rows = f->out.rows,
		        .bytes = f->out.bytes,
		        .dropped = f->out.lost + f->dropped};
		note_loss(p, f);
	}
	if (w->reserve >= 0)
		close(w->reserve);
	w->reserve = -1;
	if (w->damaged)
		st_profile_note(p, "rows were left out because they are damaged: the program has "
		                   "written over them; run it again to have them");
	if (w->out_of_memory)
		st_profile_note(p, "there was no memory left for some rows: they were lost");
	return p->out_of_memory ? -1 : 0;
}
