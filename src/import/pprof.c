/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile.proto of pprof, plain or compressed by gzip. Values that are counts, nanoseconds and
 * instructions are those of contexts; values of other units, such as bytes, become measurements
 * with the stack that they belong to.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/wholefile.h"
#include "import/functions.h"
#include "import/message.h"

/* Fields of profile.proto, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILE = 4,
	FUNCTION_START = 5,
};

/* A thing that others name by its id. */
struct thing {
	uint64_t id, a, b, c;
	struct st_message message; /* of a location: for its lines */
};

struct things {
	struct thing *v;
	size_t n, cap;
	struct st_hashmap by_id;
};

enum { MOST_TYPES = 32 };

struct pprof {
	struct st_import *in;
	struct st_import_functions f;
	struct st_message whole;
	ST_VEC(const char *) strings;
	struct things mappings, locations, functions;
	struct {
		uint64_t name, unit;
	} types[MOST_TYPES];
	size_t n_types, count, time, instructions; /* the last three: indices; SIZE_MAX: none */
	double ns;                                 /* of a unit of the time */
	bool no_memory, bad;
	size_t samples;
};

/* A file that is not compressed has no mark, so it is looked at as a whole. */
bool
st_import_is_pprof(const struct st_import *in)
{
	enum { LAST_FIELD = 16 };
	const unsigned char *b = (const unsigned char *)in->bytes;
	struct st_message m = {b, b + in->n, false};
	struct st_message_field f;
	bool typed = false, known = true;
	if (in->n > 2 && b[0] == 0x1f && b[1] == 0x8b)
		return true;
	while (known && st_message_next(&m, &f)) {
		typed |= f.is_bytes && f.number == PROFILE_SAMPLE_TYPE;
		known = f.number <= LAST_FIELD;
	}
	return typed && known && !m.bad;
}

/* ---- compressed files ---- */

/* malloc'ed; NULL: no memory, or *bad: it is no gzip file, or one of too many bytes. */
static unsigned char *
inflate_all(const struct st_import *in, size_t *n, bool *bad)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)in->bytes, .avail_in = (uInt)in->n};
	size_t room = 4 * in->n + 4096;
	unsigned char *out = malloc(room);
	*bad = in->n > UINT32_MAX || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK;
	*n = 0;
	for (int status = Z_OK; out && !*bad && status != Z_STREAM_END;) {
		z.next_out = out + *n;
		z.avail_out = (uInt)(room - *n < UINT32_MAX ? room - *n : UINT32_MAX);
		size_t before = z.avail_out;
		status = inflate(&z, Z_NO_FLUSH);
		*n += before - z.avail_out;
		*bad = (status != Z_OK && status != Z_STREAM_END) || *n > ST_WHOLE_DATA;
		unsigned char *more = *n == room ? realloc(out, room *= 2) : out;
		if (!more)
			free(out);
		out = more;
	}
	inflateEnd(&z);
	if (*bad) {
		free(out);
		out = NULL;
	}
	return out;
}

/* ---- tables ---- */

static void
add_thing(struct pprof *x, struct things *t, const struct thing *thing)
{
	struct thing *slot = ST_PUSH(t);
	if (!slot || st_hashmap_add(&t->by_id, st_hash_number(thing->id), (uint32_t)(t->n - 1)))
		x->no_memory = true;
	else
		*slot = *thing;
}

static const struct thing *
find_thing(const struct things *t, uint64_t id)
{
	uint32_t at = ST_HASHMAP_FIND(&t->by_id, st_hash_number(id), i, t->v[i].id == id);
	return at == ST_HASHMAP_NONE ? NULL : &t->v[at];
}

/* Reads a message whose fields are numbers: those of the numbers in `fields` into id, a, b, c. */
static void
read_thing(struct pprof *x, struct things *t, struct st_message m, const unsigned fields[4])
{
	struct thing thing = {.message = m};
	struct st_message_field f;
	uint64_t *const values[] = {&thing.id, &thing.a, &thing.b, &thing.c};
	while (st_message_next(&m, &f))
		for (size_t i = 0; i < 4; i++)
			if (!f.is_bytes && f.number == fields[i])
				*values[i] = f.value;
	x->bad |= m.bad;
	add_thing(x, t, &thing);
}

static void
pprof_read_type(struct pprof *x, struct st_message m)
{
	struct st_message_field f;
	if (x->n_types == MOST_TYPES) {
		x->bad = true;
		return;
	}
	x->types[x->n_types].name = x->types[x->n_types].unit = 0;
	while (st_message_next(&m, &f)) {
		if (f.number == TYPE_NAME)
			x->types[x->n_types].name = f.value;
		if (f.number == TYPE_UNIT)
			x->types[x->n_types].unit = f.value;
	}
	x->n_types++;
	x->bad |= m.bad;
}

static void
read_string(struct pprof *x, const struct st_message *m)
{
	const char **slot = ST_PUSH(&x->strings);
	if (slot)
		*slot = st_profile_textf(x->in->p, "%.*s", (int)(m->end - m->at),
		                         (const char *)m->at);
	else
		x->no_memory = true;
}

static void
read_tables(struct pprof *x)
{
	static const unsigned mapping[] = {MAPPING_ID, MAPPING_FILE, 0, 0};
	static const unsigned location[] = {LOCATION_ID, LOCATION_MAPPING, LOCATION_ADDRESS, 0};
	static const unsigned function[] = {FUNCTION_ID, FUNCTION_NAME, FUNCTION_FILE,
	                                    FUNCTION_START};
	struct st_message m = x->whole;
	struct st_message_field f;
	while (!x->no_memory && !x->bad && st_message_next(&m, &f)) {
		if (!f.is_bytes && f.number == PROFILE_TIME && f.value < INT64_MAX)
			x->in->p->run.start_ns = (int64_t)f.value;
		if (!f.is_bytes && f.number == PROFILE_DURATION && f.value < INT64_MAX)
			x->in->p->run.wall_ns = (int64_t)f.value;
		if (!f.is_bytes)
			continue;
		if (f.number == PROFILE_SAMPLE_TYPE)
			pprof_read_type(x, f.bytes);
		else if (f.number == PROFILE_MAPPING)
			read_thing(x, &x->mappings, f.bytes, mapping);
		else if (f.number == PROFILE_LOCATION)
			read_thing(x, &x->locations, f.bytes, location);
		else if (f.number == PROFILE_FUNCTION)
			read_thing(x, &x->functions, f.bytes, function);
		else if (f.number == PROFILE_STRING)
			read_string(x, &f.bytes);
	}
	x->bad |= m.bad;
}

/* Whether all texts are there that others refer to: a file that was cut may lack some. */
static bool
has_strings(const struct pprof *x)
{
	size_t n = x->strings.n;
	for (size_t i = 0; i < x->n_types; i++)
		if (x->types[i].name >= n || x->types[i].unit >= n)
			return false;
	for (size_t i = 0; i < x->mappings.n; i++)
		if (x->mappings.v[i].a >= n)
			return false;
	for (size_t i = 0; i < x->functions.n; i++)
		if (x->functions.v[i].a >= n || x->functions.v[i].b >= n)
			return false;
	return true;
}

static const char *
pprof_string(const struct pprof *x, uint64_t index)
{
	return index < x->strings.n ? x->strings.v[index] : "";
}

/* Which values are those of contexts. */
static void
choose_types(struct pprof *x)
{
	static const struct {
		const char *unit;
		double ns;
	} times[] = {
	        {"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}};
	x->count = x->time = x->instructions = SIZE_MAX;
	for (size_t i = 0; i < x->n_types; i++) {
		const char *unit = pprof_string(x, x->types[i].unit);
		if (!strcmp(pprof_string(x, x->types[i].name), "instructions"))
			x->instructions = i;
		else if (!strcmp(unit, "count") && x->count == SIZE_MAX)
			x->count = i;
		for (size_t t = 0; t < sizeof times / sizeof *times && x->time == SIZE_MAX; t++)
			if (!strcmp(unit, times[t].unit)) {
				x->time = i;
				x->ns = times[t].ns;
			}
	}
	x->f.timed = x->time != SIZE_MAX;
	x->f.with_instructions = x->instructions != SIZE_MAX;
}

/* ---- samples ---- */

static void
push_function(struct pprof *x, const struct thing *location, uint64_t id)
{
	const struct thing *f = find_thing(&x->functions, id);
	const struct thing *mapping = find_thing(&x->mappings, location->a);
	const char *image = mapping ? pprof_string(x, mapping->a) : "";
	const char *name = f ? pprof_string(x, f->a) : "", *file = f ? pprof_string(x, f->b) : "";
	char address[24];
	snprintf(address, sizeof address, "0x%llx", (unsigned long long)location->b);
	uint32_t function = st_import_function(&x->f, *image ? image : ST_IMPORT_NO_IMAGE,
	                                       *name ? name : address, *file ? file : NULL,
	                                       f && f->c <= UINT32_MAX ? (uint32_t)f->c : 0);
	uint32_t *slot = function == UINT32_MAX ? NULL : ST_PUSH(&x->f.stack);
	if (slot)
		*slot = function;
	else
		x->no_memory = true;
}

/* A location has a line for each function that is inlined there, the innermost first. */
static void
push_location(struct pprof *x, uint64_t id)
{
	const struct thing *location = find_thing(&x->locations, id);
	struct st_message_field f, inner;
	bool some = false;
	if (!location) {
		x->bad = true;
		return;
	}
	struct st_message m = location->message;
	while (st_message_next(&m, &f)) {
		if (f.number != LOCATION_LINE || !f.is_bytes)
			continue;
		for (struct st_message line = f.bytes; st_message_next(&line, &inner);)
			if (inner.number == LINE_FUNCTION) {
				push_function(x, location, inner.value);
				some = true;
			}
	}
	if (!some)
		push_function(x, location, 0);
}

static uint64_t
value_of(const uint64_t *values, size_t index)
{
	return index == SIZE_MAX || values[index] > INT64_MAX ? 0 : values[index];
}

/* Values of other units, with the stack, which is the innermost call first. */
static void
add_measurements(struct pprof *x, const uint64_t *values)
{
	const uint32_t *stack = x->f.stack.v;
	size_t n = x->f.stack.n;
	struct st_series_frame *frames = NULL;
	for (size_t i = 0; i < x->n_types && n; i++) {
		const char *unit = pprof_string(x, x->types[i].unit);
		if (i == x->time || i == x->count || i == x->instructions || !values[i])
			continue;
		if (!frames && !(frames = calloc(n, sizeof *frames))) {
			x->no_memory = true;
			return;
		}
		for (size_t k = 0; k < n; k++)
			frames[k] = (struct st_series_frame){x->f.v.v[stack[k]].name,
			                                     x->f.v.v[stack[k]].file, 0};
		bool bytes = !strcmp(unit, "bytes");
		const struct st_series_key key = {.kind = bytes ? ST_KIND_MEMORY : ST_KIND_COUNT,
		                                  .metric = pprof_string(x, x->types[i].name),
		                                  .unit = bytes ? "B" : unit,
		                                  .image = x->f.v.v[stack[0]].image,
		                                  .file = x->f.v.v[stack[0]].file,
		                                  .function = x->f.v.v[stack[0]].name,
		                                  .frames = frames,
		                                  .n_frames = n};
		struct st_series *s = st_series_of(x->in->p, &key);
		x->no_memory |= !s || st_series_add(s, (double)(int64_t)values[i]) == SIZE_MAX;
	}
	free(frames);
}

static uint64_t
thread_of(struct pprof *x, struct st_message m)
{
	struct st_message_field f;
	uint64_t key = 0, number = 0;
	while (st_message_next(&m, &f)) {
		key = f.number == LABEL_KEY ? f.value : key;
		number = f.number == LABEL_NUMBER ? f.value : number;
	}
	return !strcmp(pprof_string(x, key), "thread") && number <= INT32_MAX ? number : 0;
}

static void
read_sample(struct pprof *x, struct st_message m)
{
	uint64_t values[MOST_TYPES] = {0}, value, thread = 0;
	size_t n = 0;
	struct st_message_field f;
	x->f.stack.n = 0;
	while (!x->no_memory && !x->bad && st_message_next(&m, &f)) {
		if (f.number == SAMPLE_LOCATION)
			while (!x->bad && st_message_number(&f, &value))
				push_location(x, value);
		if (f.number == SAMPLE_VALUE)
			while (st_message_number(&f, &value))
				if (n < MOST_TYPES)
					values[n++] = value;
		if (f.number == SAMPLE_LABEL && f.is_bytes && !thread)
			thread = thread_of(x, f.bytes);
		x->bad |= f.is_bytes && f.bytes.bad;
	}
	x->bad |= m.bad || n != x->n_types;
	if (x->bad || x->no_memory)
		return;
	x->samples++;
	add_measurements(x, values);
	for (size_t i = 0, last = x->f.stack.n; i < last / 2; i++) {
		uint32_t inner = x->f.stack.v[i];
		x->f.stack.v[i] = x->f.stack.v[last - 1 - i];
		x->f.stack.v[last - 1 - i] = inner;
	}
	uint32_t to = st_import_thread(&x->f, "", (int64_t)thread);
	double ns = x->ns * (double)value_of(values, x->time);
	const struct st_import_weight weight = {.count = value_of(values, x->count),
	                                        .ns = x->ns == 1  ? value_of(values, x->time)
	                                              : ns < 1e18 ? (uint64_t)ns
	                                                          : 0,
	                                        .instructions = value_of(values, x->instructions)};
	x->no_memory |= to == UINT32_MAX || st_import_stack(&x->f, to, weight) != ST_OK;
}

static void
read_samples(struct pprof *x)
{
	struct st_message m = x->whole;
	struct st_message_field f;
	while (!x->no_memory && !x->bad && st_message_next(&m, &f))
		if (f.number == PROFILE_SAMPLE && f.is_bytes)
			read_sample(x, f.bytes);
}

/* ---- the file ---- */

static void
free_things(struct things *t)
{
	free(t->v);
	st_hashmap_free(&t->by_id);
}

static st_status
read_pprof(struct pprof *x, struct st_error *e)
{
	read_tables(x);
	x->bad |= !has_strings(x);
	choose_types(x);
	if (!x->bad && !x->no_memory)
		read_samples(x);
	if (x->bad)
		return st_import_bad(x->in, 0, e,
		                     "it is damaged: its messages do not fit together");
	if (!x->no_memory && !x->samples)
		return st_import_bad(x->in, 0, e, "it has no samples");
	if (x->no_memory || st_import_functions_finish(&x->f))
		return st_import_no_memory(x->in, e);
	return ST_OK;
}

st_status
st_import_pprof(struct st_import *in, struct st_error *e)
{
	struct pprof x = {.in = in, .f = {.p = in->p}};
	const unsigned char *bytes = (const unsigned char *)in->bytes;
	unsigned char *inflated = NULL;
	size_t n = in->n;
	bool bad = false, packed = n > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
	if (packed)
		inflated = inflate_all(in, &n, &bad);
	if (bad)
		return st_import_bad(
		        in, 0, e,
		        "it is damaged, or too large: gzip cannot unpack it to at most 1 GiB");
	if (packed && !inflated)
		return st_import_no_memory(in, e);
	x.whole = packed ? (struct st_message){inflated, inflated + n, false}
	                 : (struct st_message){bytes, bytes + n, false};
	st_status status = read_pprof(&x, e);
	free(inflated);
	free(x.strings.v);
	free_things(&x.mappings);
	free_things(&x.locations);
	free_things(&x.functions);
	st_import_functions_free(&x.f);
	return status;
}
