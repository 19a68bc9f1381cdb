/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading rows. The file may come from anyone: every size and index is checked before it is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "collect/shower.h"
#include "rows/rowcodec.h"
#include "rows/rowfile.h"

/* The definitions of a process that have been read. */
struct process {
	struct st_rows_process about;
	uint32_t number;
	struct st_results_header *header; /* for the view */
	struct st_view view;
	ST_VEC(char) strings;
	ST_VEC(struct st_map) maps;
	ST_VEC(struct st_thread) threads;
	ST_VEC(strobe_site) sites;
	struct st_codec *codec;
	size_t frame; /* in which the codec forgot last */
	struct st_shower shower;
	bool shows; /* the shower knows all mappings */
};

struct st_row_reader {
	const unsigned char *file;
	size_t size, at; /* at: the next frame */
	uint32_t version;
	size_t frame; /* number of the frame at hand, from 1 */
	uint64_t rows;
	double tsc_hz;
	unsigned char *content; /* of the frame at hand */
	size_t n, record;       /* bytes of its records; where the next one begins */
	bool short_end;         /* the file ends within a frame */
	struct st_collect collect;
	struct st_profile_origin origin;
	struct st_profile_table stream;
	ST_VEC(struct process *) processes;
	/* The rows at hand, and what follows in the frame's columns. */
	struct process *process;
	uint32_t thread;
	struct st_decoding rows_left;
	struct st_profile_value values[STROBE_MOST_COLUMNS];
	ZSTD_DCtx *zstd;
	const char *why; /* the file cannot be read on, or NULL */
};

bool
st_row_file_is(const char *path)
{
	char magic[8];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic &&
	          !memcmp(magic, ST_ROWS_MAGIC, sizeof magic);
	if (fd >= 0)
		close(fd);
	return is;
}

static st_status
map_file(struct st_row_reader *r, const char *path, struct st_error *e)
{
	struct st_rows_header head;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		return st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", path, strerror(error));
	}
	void *file = S_ISREG(st.st_mode) && st.st_size
	                     ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
	                     : MAP_FAILED;
	close(fd);
	if (file != MAP_FAILED) {
		r->file = file;
		r->size = (size_t)st.st_size;
	}
	if (r->size < sizeof head || memcmp(r->file, ST_ROWS_MAGIC, 8))
		return st_fail(e, ST_EXIT_FAILED, "%s is not a file of rows of strobe run", path);
	memcpy(&head, r->file, sizeof head);
	if (head.version > ST_ROWS_VERSION)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s was written by a newer strobe (version %u of the format, this "
		               "one reads version %u)",
		               path, head.version, ST_ROWS_VERSION);
	r->at = head.bytes;
	r->version = head.version;
	if (head.version && head.version < ST_ROWS_OLDEST)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s was written by an older strobe (version %u of the format, this "
		               "one reads versions from %u on)",
		               path, head.version, ST_ROWS_OLDEST);
	if (!head.version || head.bytes < sizeof head || head.bytes > r->size)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is damaged: its header makes no sense; run the program again",
		               path);
	return 0;
}

/* The head of the frame at an offset. */
static bool
frame_at(const struct st_row_reader *r, size_t at, struct st_rows_frame *head)
{
	if (r->size - at < sizeof *head)
		return false;
	memcpy(head, r->file + at, sizeof *head);
	return head->mark == ST_ROWS_MARK && head->bytes <= r->size - at - sizeof *head &&
	       head->content <= ST_ROWS_MOST_FRAME;
}

/* Counts the rows, and finds the best value of the clock: the last one. */
static void
scan(struct st_row_reader *r)
{
	struct st_rows_frame head;
	size_t at = r->at;
	for (; at < r->size && frame_at(r, at, &head); at += sizeof head + head.bytes) {
		r->rows += head.rows;
		if (head.tsc_hz > 1e6 && head.tsc_hz < 1e12)
			r->tsc_hz = head.tsc_hz;
	}
	r->short_end = at < r->size;
}

static void
rowfile_read_free_process(struct process *p)
{
	if (!p)
		return;
	st_shower_close(&p->shower);
	st_codec_free(p->codec);
	free(p->strings.v);
	free(p->maps.v);
	free(p->threads.v);
	free(p->sites.v);
	free(p->header);
	free(p);
}

void
st_row_reader_close(struct st_row_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->processes.n; i++)
		rowfile_read_free_process(r->processes.v[i]);
	free(r->processes.v);
	st_collect_release(&r->collect);
	st_profile_free(r->collect.profile);
	ZSTD_freeDCtx(r->zstd);
	free(r->content);
	if (r->file)
		munmap((void *)(uintptr_t)r->file, r->size);
	free(r);
}

/* ---- records ---- */

static struct process *
rowfile_read_process_of(struct st_row_reader *r, uint32_t number)
{
	return number < r->processes.n ? r->processes.v[number] : NULL;
}

static bool
rowfile_read_take_process(struct st_row_reader *r, uint32_t number, const unsigned char *bytes,
                          size_t n)
{
	enum { MOST = 1 << 20 };
	if (n < sizeof(struct st_rows_process) || number >= MOST)
		return false;
	while (r->processes.n <= number)
		if (!ST_PUSH(&r->processes))
			return false;
	struct process *p = calloc(1, sizeof *p);
	if (!p || r->processes.v[number]) {
		free(p);
		return false;
	}
	r->processes.v[number] = p;
	p->number = number;
	memcpy(&p->about, bytes, sizeof p->about);
	p->header = calloc(1, sizeof *p->header);
	p->codec = st_codec_new();
	if (!p->header || !p->codec)
		return false;
	p->header->run.tsc_begin = p->about.tsc_begin;
	p->view.header = p->header;
	return true;
}

/* Puts n elements of `each` bytes at index `at` of an array, which they may make longer by so many
 * at most, without a hole. */
static bool
rowfile_read_place(void *array, uint64_t at, const unsigned char *bytes, size_t n, size_t each,
                   size_t most)
{
	ST_VEC(unsigned char) *v = array;
	if (at > v->n || n % each || n / each > most || at > most - n / each)
		return false;
	size_t end = (size_t)at + n / each;
	if (end > v->cap) {
		size_t cap = end + end / 2 + 16;
		void *grown = reallocarray(v->v, cap, each);
		if (!grown)
			return false;
		v->v = grown;
		v->cap = cap;
	}
	if (n)
		memcpy(v->v + at * each, bytes, n);
	v->n = end > v->n ? end : v->n;
	return true;
}

/* Threads are told when they are met, in any order. */
static bool
take_thread(struct process *p, uint64_t at, const unsigned char *bytes, size_t n)
{
	if (at >= ST_MAX_THREADS || n != sizeof(struct st_thread))
		return false;
	while (p->threads.n <= at)
		if (!ST_PUSH(&p->threads))
			return false;
	memcpy(&p->threads.v[at], bytes, n);
	return true;
}

static void
refresh(struct process *p)
{
	p->view.strings = p->strings.v;
	p->view.n_strings = (uint32_t)p->strings.n;
	p->view.maps = p->maps.v;
	p->view.n_maps = (uint32_t)p->maps.n;
	p->view.threads = p->threads.v;
	p->view.n_threads = (uint32_t)p->threads.n;
}

static bool
take_part(struct st_row_reader *r, struct process *p, uint32_t kind, const unsigned char *bytes,
          size_t n)
{
	uint64_t at;
	bool ok = false;
	if (n < sizeof at)
		return false;
	memcpy(&at, bytes, sizeof at);
	bytes += sizeof at;
	n -= sizeof at;
	if (kind == ST_ROWS_STRINGS)
		ok = rowfile_read_place(&p->strings, at, bytes, n, 1, ST_STRINGS_BYTES);
	else if (kind == ST_ROWS_SITES)
		ok = rowfile_read_place(&p->sites, at, bytes, n, sizeof(strobe_site), ST_MAX_SITES);
	else if (kind == ST_ROWS_THREAD)
		ok = take_thread(p, at, bytes, n);
	else if (n == sizeof(struct st_map))
		ok = rowfile_read_place(&p->maps, at, bytes, n, sizeof(struct st_map), ST_MAX_MAPS);
	if (kind == ST_ROWS_MAP) {
		st_shower_close(&p->shower);
		p->shows = false;
	}
	refresh(p);
	r->collect.last_path = NULL; /* the strings may have moved */
	return ok;
}

static bool
take_rows(struct st_row_reader *r, struct process *p, const unsigned char *bytes, size_t n)
{
	struct st_rows_rows head;
	if (n < sizeof head)
		return false;
	memcpy(&head, bytes, sizeof head);
	if (p->frame != r->frame)
		st_codec_reset(p->codec);
	p->frame = r->frame;
	r->process = p;
	r->thread = head.thread;
	r->rows_left.sites = p->sites.v;
	r->rows_left.n_sites = (uint32_t)p->sites.n;
	st_codec_begin(&r->rows_left, head.rows);
	return true;
}

/* The next of a record's texts; NULL: there is none. */
static const char *
next_text(struct st_profile *p, const char **at, const char *end)
{
	const char *text = *at, *stop = memchr(text, '\0', (size_t)(end - text));
	if (!stop)
		return NULL;
	*at = stop + 1;
	return st_profile_text(p, text);
}

static bool
take_stream(struct st_row_reader *r, const unsigned char *bytes, size_t n)
{
	const char *at = (const char *)bytes, *end = at + n, *type, *name;
	struct st_profile *p = r->collect.profile;
	struct st_profile_table *s = &r->stream;
	if (s->name || !n)
		return false;
	s->name = next_text(p, &at, end);
	s->help = next_text(p, &at, end);
	s->tool = next_text(p, &at, end);
	while (s->tool && at < end && (type = next_text(p, &at, end)) &&
	       (name = next_text(p, &at, end))) {
		int code = st_profile_type_named(type);
		if (code < 0 || s->n_columns == STROBE_MOST_COLUMNS)
			return false;
		s->columns[s->n_columns++] = (struct st_profile_column){name, code, STROBE_IS_KEY};
	}
	s->n_keys = s->n_columns;
	return s->n_columns > 0;
}

static bool
take_record(struct st_row_reader *r, const struct st_rows_record *head, const unsigned char *bytes)
{
	if (head->kind == ST_ROWS_STREAM)
		return take_stream(r, bytes, head->bytes);
	if (head->kind == ST_ROWS_PROCESS)
		return rowfile_read_take_process(r, head->process, bytes, head->bytes);
	struct process *p = rowfile_read_process_of(r, head->process);
	if (!p)
		return false;
	if (head->kind == ST_ROWS_ROWS)
		return take_rows(r, p, bytes, head->bytes);
	if (head->kind == ST_ROWS_STRINGS || head->kind == ST_ROWS_SITES ||
	    head->kind == ST_ROWS_THREAD || head->kind == ST_ROWS_MAP)
		return take_part(r, p, head->kind, bytes, head->bytes);
	return true; /* of a later strobe */
}

/* Where the columns of the frame at hand are. */
static bool
find_columns(struct st_row_reader *r, size_t content)
{
	struct st_rows_columns columns;
	const unsigned char *at = r->content + r->n;
	size_t left = content - r->n;
	r->rows_left = (struct st_decoding){.version = r->version};
	if (!left)
		return true;
	if (left < sizeof columns)
		return false;
	memcpy(&columns, at, sizeof columns);
	at += sizeof columns;
	left -= sizeof columns;
	for (unsigned i = 0; i < ST_CODEC_COLUMNS; i++) {
		if (columns.bytes[i] > left)
			return false;
		r->rows_left.at[i] = at;
		at += columns.bytes[i];
		r->rows_left.end[i] = at;
		left -= columns.bytes[i];
	}
	return true;
}

/* 1: a frame is at hand; 0: there is none left. */
static int
next_frame(struct st_row_reader *r)
{
	struct st_rows_frame head;
	if (r->at == r->size)
		return 0;
	if (!frame_at(r, r->at, &head)) {
		r->why = "it ends within a frame: what came after is lost";
		return -1;
	}
	if (!r->content)
		r->content = malloc(ST_ROWS_MOST_FRAME);
	if (!r->zstd)
		r->zstd = ZSTD_createDCtx();
	size_t n = r->content && r->zstd
	                   ? ZSTD_decompressDCtx(r->zstd, r->content, head.content,
	                                         r->file + r->at + sizeof head, head.bytes)
	                   : 0;
	r->n = head.records;
	if (ZSTD_isError(n) || n != head.content || !r->content || r->n > n ||
	    !find_columns(r, n)) {
		r->n = 0;
		r->why = "a frame of it is damaged";
		return -1;
	}
	r->at += sizeof head + head.bytes;
	r->record = 0;
	r->frame++;
	return 1;
}

/* 1: a record was taken, 0: there is none left. */
static int
next_record(struct st_row_reader *r)
{
	struct st_rows_record head;
	if (r->record == r->n)
		return 0;
	bool ok = r->n - r->record >= sizeof head;
	if (ok) {
		memcpy(&head, r->content + r->record, sizeof head);
		size_t left = r->n - r->record - sizeof head;
		uint64_t padded = (head.bytes + 7) & ~7ull;
		ok = head.bytes <= left && padded <= left &&
		     take_record(r, &head, r->content + r->record + sizeof head);
		r->record += sizeof head + padded;
	}
	if (!ok)
		r->why = "its records do not fit together";
	return ok ? 1 : -1;
}

/* ---- rows ---- */

/* The name of a place's function, and as a function where that begins. */
static void
resolve(struct st_row_reader *r, enum strobe_type type, struct st_profile_value *v)
{
	struct st_image *image =
	        v->image < r->collect.opened.n ? r->collect.opened.v[v->image] : NULL;
	const struct st_function *f = image ? st_image_function(image, v->number) : NULL;
	if (!f)
		return;
	v->text = f->name;
	if (type == STROBE_FUNCTION)
		v->number = f->offset;
}

static void
resolve_line(struct st_row_reader *r, enum strobe_type type, struct st_profile_value *v)
{
	struct st_line line;
	struct st_image *image =
	        v->image < r->collect.opened.n ? r->collect.opened.v[v->image] : NULL;
	if (!image || st_collect_line(image, type, v->number, &line))
		return;
	*v = (struct st_profile_value){line.line, line.file, UINT32_MAX, UINT32_MAX};
}

/* Of registers all names, in one text. */
static void
show_registers(struct st_row_reader *r, enum strobe_type type, uint64_t raw,
               struct st_profile_value *v)
{
	const char *names[ST_MOST_REGISTERS];
	char text[ST_MOST_REGISTERS * 12] = "";
	size_t n = st_shower_registers(&r->process->shower, type, raw, names);
	for (size_t i = 0; i < n; i++) {
		strncat(text, i ? " " : "", sizeof text - strlen(text) - 1);
		strncat(text, names[i], sizeof text - strlen(text) - 1);
	}
	v->text = st_collect_intern(&r->collect, text);
}

static bool
rowfile_read_show(struct st_row_reader *r, const strobe_site *site, const uint64_t *values)
{
	struct process *p = r->process;
	if (!p->shows) {
		if (st_shower_open(&p->shower, &r->collect, &p->view, r->tsc_hz))
			return false;
		p->shows = true;
	}
	for (size_t i = 0; i < r->stream.n_columns; i++) {
		const struct st_profile_column *c = &r->stream.columns[i];
		struct st_profile_value *v = &r->values[i];
		bool constant = site->where[i] < 0;
		uint8_t where = (uint8_t)site->where[i];
		if (!constant && where >= site->n_values)
			return false;
		uint64_t raw = constant ? site->constant[i] : values[where];
		if (st_shower_value(&p->shower, c, raw, v))
			return false;
		if (c->type == STROBE_REGISTERS_READ || c->type == STROBE_REGISTERS_WRITTEN)
			show_registers(r, c->type, raw, v);
		else if (st_profile_shape(c->type) == ST_VALUE_PLACE)
			resolve(r, c->type, v);
		else if (st_profile_shape(c->type) == ST_VALUE_LINE)
			resolve_line(r, c->type, v);
	}
	r->collect.hits.n = 0; /* nobody asks for them here */
	return true;
}

static st_status
fail(const struct st_row_reader *r, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED,
	               "the file of rows is damaged: %s; the rows before that are correct; run the "
	               "program again for the others",
	               r->why);
}

/* Up to the next rows. 1, 0 at the end, -1. */
static int
advance(struct st_row_reader *r)
{
	while (!r->rows_left.rows && !r->why) {
		int more = next_record(r);
		if (!more)
			more = next_frame(r);
		if (!more)
			return 0;
	}
	return r->why ? -1 : 1;
}

/* Nanoseconds from the beginning of the first process to that of this one. */
static uint64_t
start_of(const struct st_row_reader *r, const struct process *p)
{
	const struct process *first = r->processes.n ? r->processes.v[0] : NULL;
	if (!first || p->about.tsc_begin <= first->about.tsc_begin || !(r->tsc_hz > 0))
		return 0;
	return (uint64_t)((double)(p->about.tsc_begin - first->about.tsc_begin) / r->tsc_hz * 1e9);
}

int
st_row_reader_next(struct st_row_reader *r, struct st_row_shown *row, struct st_error *e)
{
	uint32_t site;
	uint64_t values[STROBE_MOST_COLUMNS];
	int more = advance(r);
	if (more > 0) {
		struct process *p = r->process;
		if (!r->stream.n_columns ||
		    st_codec_decode(p->codec, &r->rows_left, &site, values) < 0 ||
		    !rowfile_read_show(r, &p->sites.v[site], values)) {
			r->why = "its rows do not fit together";
			more = -1;
		} else {
			bool known = r->thread < p->threads.n;
			*row = (struct st_row_shown){.values = r->values,
			                             .pid = p->about.pid,
			                             .process = p->number,
			                             .start_ns = start_of(r, p),
			                             .tid = known ? p->threads.v[r->thread].tid
			                                          : 0};
		}
	}
	return more < 0 ? fail(r, e) : more;
}

struct st_row_reader *
st_row_reader_open(const char *path, struct st_error *e)
{
	struct st_row_reader *r = calloc(1, sizeof *r);
	if (!r) {
		st_cause(e, ST_EXIT_FAILED, "no memory left to read %s", path);
		return NULL;
	}
	r->collect.anon = r->collect.nameless = UINT32_MAX;
	r->collect.origin = &r->origin;
	if (map_file(r, path, e)) {
		st_row_reader_close(r);
		return NULL;
	}
	scan(r);
	r->collect.profile = st_profile_new();
	/* Up to the first rows, or the end: so the columns are known. */
	if (!r->collect.profile || advance(r) < 0) {
		if (!r->why)
			r->why = "no memory is left to read it";
		if (!r->stream.n_columns) {
			st_cause(e, ST_EXIT_FAILED, "%s is damaged: %s; run the program again",
			         path, r->why);
			st_row_reader_close(r);
			return NULL;
		}
	}
	if (r->stream.n_columns)
		return r;
	st_cause(e, ST_EXIT_FAILED,
	         "%s is damaged: it does not say what its rows are; run the program again", path);
	st_row_reader_close(r);
	return NULL;
}

const struct st_profile_table *
st_row_reader_stream(const struct st_row_reader *r)
{
	return &r->stream;
}

const struct st_profile *
st_row_reader_profile(const struct st_row_reader *r)
{
	return r->collect.profile;
}

struct st_image *
st_row_reader_image(const struct st_row_reader *r, uint32_t index)
{
	return index < r->collect.opened.n ? r->collect.opened.v[index] : NULL;
}

uint64_t
st_row_reader_rows(const struct st_row_reader *r)
{
	return r->rows;
}
