/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/shower.h"

#include <math.h>

#include "collect/syscalls.h"

st_status
st_shower_open(struct st_shower *s, struct st_collect *c, const struct st_view *v, double tsc_hz)
{
	*s = (struct st_shower){.c = c, .v = v, .tsc_hz = tsc_hz};
	s->spans = st_spans_new(v);
	return s->spans ? 0 : -1;
}

void
st_shower_close(struct st_shower *s)
{
	free(s->spans);
	free(s->places.v);
	st_hashmap_free(&s->index);
	*s = (struct st_shower){0};
}

/* Addresses of one cache line of code are near one another in the map, too, because they are asked
 * for together. */
static uint32_t
hash_address(uint64_t address)
{
	const uint64_t line = (address >> 6) * 0x9e3779b97f4a7c15u >> 36;
	return (uint32_t)(line << 4 | (address >> 2 & 15));
}

/* A place that is met for the first time becomes a hit without a count, so that the walk over
 * functions gives it one. */
static st_status
learn_code(struct st_shower *s, uint32_t map, uint64_t address, uint32_t *image, uint64_t *offset)
{
	struct st_hit *hit = ST_PUSH(&s->c->hits);
	if (!hit || st_collect_place(s->c, s->v, map, address, image, offset))
		return -1;
	*hit = (struct st_hit){.image = *image, .offset = *offset, .where = ST_HIT_FRAME};
	return 0;
}

st_status
st_shower_place(struct st_shower *s, uint32_t map, uint64_t address, struct st_profile_value *value)
{
	return learn_code(s, map, address, &value->image, &value->number);
}

static st_status
learn_place(struct st_shower *s, uint64_t address)
{
	int64_t map = st_spans_find(s->v, s->spans, address);
	struct st_known_place *place = ST_PUSH(&s->places);
	if (!place)
		return -1;
	*place = (struct st_known_place){address, address, UINT32_MAX};
	return map >= 0 ? learn_code(s, (uint32_t)map, address, &place->image, &place->offset) : 0;
}

static st_status
show_place(struct st_shower *s, uint64_t address, struct st_profile_value *value)
{
	const uint32_t hash = hash_address(address);
	uint32_t at = ST_HASHMAP_FIND(&s->index, hash, i, s->places.v[i].address == address);
	if (at == ST_HASHMAP_NONE) {
		at = (uint32_t)s->places.n;
		if (learn_place(s, address) || st_hashmap_add(&s->index, hash, at))
			return -1;
	}
	const struct st_known_place *place = &s->places.v[at];
	value->number = place->offset;
	value->image = place->image;
	return 0;
}

/* Points in time are told from durations by being later than the process' beginning: counted from
 * there. Only a run that takes longer than the machine had been up before it can confuse them. */
static uint64_t
show_ticks(const struct st_shower *s, const struct st_profile_column *column, uint64_t ticks)
{
	uint64_t begin = s->v->header->run.tsc_begin;
	if (column->role != STROBE_IS_SUM && begin && ticks >= begin)
		ticks -= begin;
	return s->tsc_hz > 0 ? (uint64_t)llround((double)ticks / s->tsc_hz * 1e9) : 0;
}

static const char *
text_at(const struct st_shower *s, uint64_t offset)
{
	return offset <= UINT32_MAX ? st_view_string(s->v, (uint32_t)offset) : "";
}

static const char *
syscall_name(struct st_shower *s, uint64_t number)
{
	char text[32];
	const char *name = st_syscall_name(number);
	if (name)
		return st_collect_intern(s->c, name);
	snprintf(text, sizeof text, "syscall_%llu", (unsigned long long)number);
	return st_collect_intern(s->c, text);
}

static const char *
show_text(struct st_shower *s, enum strobe_type type, uint64_t raw)
{
	const char *names[ST_MOST_REGISTERS];
	if (type == STROBE_SYSCALL)
		return syscall_name(s, raw);
	if (type == STROBE_TEXT)
		return st_collect_intern(s->c, text_at(s, raw));
	size_t n = st_shower_registers(s, type, raw, names);
	return n ? names[0] : "";
}

st_status
st_shower_value(struct st_shower *s, const struct st_profile_column *column, uint64_t raw,
                struct st_profile_value *value)
{
	*value = (struct st_profile_value){
	        .number = raw, .image = UINT32_MAX, .function = UINT32_MAX};
	switch (st_profile_shape(column->type)) {
	case ST_VALUE_PLACE:
	case ST_VALUE_LINE:
		return show_place(s, raw, value);
	case ST_VALUE_TEXT:
		value->number = 0;
		value->text = show_text(s, column->type, raw);
		return 0;
	default:
		if (column->type == STROBE_TICKS)
			value->number = show_ticks(s, column, raw);
		else if (column->type == STROBE_THREAD && raw < s->v->n_threads)
			value->number = s->v->threads[raw].tid;
		else if (column->type == STROBE_THREAD && raw == UINT64_MAX)
			value->number = 0; /* not known */
		return 0;
	}
}
