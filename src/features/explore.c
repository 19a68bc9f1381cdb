/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds features: starts at parameters and globals, and goes through members and pointers. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "features/internal.h"
#include "wire/machine.h"

/* ---- operations and features ---- */

uint16_t
st_feature_emit(struct st_feature_search *s, struct st_record_op op)
{
	const size_t reserved = s->limits.machine ? ST_MACHINE_COUNT : 0;
	struct st_record_op *slot =
	        s->table->ops.n < ST_RECORD_MOST_OPS - reserved ? ST_PUSH(&s->table->ops) : NULL;
	if (!slot)
		return ST_NO_OP;
	*slot = op;
	return (uint16_t)(s->table->ops.n - 1);
}

bool
st_feature_is_full(const struct st_feature_search *s)
{
	const size_t reserved = s->limits.machine ? ST_MACHINE_COUNT : 0,
	             most = ST_FEATURE_MOST - reserved;
	return s->table->features.n >= (s->limits.most < most ? s->limits.most : most);
}

static bool
is_signed_type(const struct st_type *type)
{
	return type->kind == ST_TYPE_SIGNED || type->kind == ST_TYPE_CHAR ||
	       type->kind == ST_TYPE_ENUM;
}

static bool
fits_offset(int64_t offset)
{
	return offset >= INT32_MIN && offset <= INT32_MAX;
}

uint16_t
st_feature_read(struct st_feature_search *s, const struct st_feature_where *where,
                const struct st_type *type, uint32_t bits, uint32_t bit_offset)
{
	const uint64_t size = type->size < 8 ? type->size : 8;
	struct st_record_op load = {.kind = ST_RECORD_LOAD,
	                            .base = where->base,
	                            .offset = (int32_t)where->offset,
	                            .width = (uint8_t)size,
	                            .is_signed = is_signed_type(type)};
	struct st_record_op field = {.kind = ST_RECORD_BITS,
	                             .width = (uint8_t)(bits ? bits : size * 8),
	                             .offset = (int32_t)bit_offset,
	                             .is_signed = load.is_signed};
	if (!fits_offset(where->offset) || !size)
		return ST_NO_OP;
	if (where->in_registers) {
		field.base = (uint16_t)(where->base + where->offset / 8);
		field.offset += (int32_t)(where->offset % 8) * 8;
		return st_feature_emit(s, field);
	}
	if (!bits)
		return st_feature_emit(s, load);
	/* Loads only the bytes that contain the bits: memory after them may not be mapped. */
	const uint32_t bytes = (bit_offset + bits + 7) / 8;
	load.is_signed = 0;
	load.width = (uint8_t)(bytes > 4 ? 8 : bytes > 2 ? 4 : bytes);
	field.base = st_feature_emit(s, load);
	return field.base == ST_NO_OP ? ST_NO_OP : st_feature_emit(s, field);
}

void
st_feature_add(struct st_feature_search *s, const struct st_feature_item *item, char *path,
               const char *suffix, struct st_feature f)
{
	struct st_feature_table *t = s->table;
	if (f.op == ST_NO_OP || st_feature_is_full(s)) {
		s->table->left_out++;
		free(path);
		return;
	}
	const char *source = item->path && suffix ? item->path : path;
	f.name = path ? st_feature_name_of(t, suffix && !item->path ? "" : source, suffix) : NULL;
	f.path = path;
	f.origin = item->origin;
	struct st_feature *slot = f.name ? ST_PUSH(&t->features) : NULL;
	if (!slot) {
		t->no_memory = true;
		free(f.name);
		free(path);
		return;
	}
	*slot = f;
	t->ops.v[f.op].kept = 1;
}

void
st_feature_skip(struct st_feature_search *s, const struct st_feature_item *item, const char *member,
                const char *why)
{
	enum { MOST_SKIPPED = 256 };
	struct st_feature_table *t = s->table;
	if (t->skipped.n >= MOST_SKIPPED)
		return;
	char *path =
	        member ? st_feature_path_of_member(item, member) : st_feature_path_of_value(item);
	struct st_feature_skipped *slot = path ? ST_PUSH(&t->skipped) : NULL;
	if (slot)
		*slot = (struct st_feature_skipped){path, why};
	else
		free(path);
	t->no_memory |= !slot;
}

/* ---- kinds of data ---- */

static void
add_scalar(struct st_feature_search *s, const struct st_feature_item *item, uint32_t bits,
           uint32_t bit_offset)
{
	const struct st_type *type = item->type;
	struct st_feature f = {.type_name = item->type_name,
	                       .type = item->type,
	                       .kind = type->kind == ST_TYPE_ENUM ? ST_FEATURE_CATEGORY
	                                                          : ST_FEATURE_NUMBER,
	                       .form = is_signed_type(type) ? ST_FORM_SIGNED : ST_FORM_UNSIGNED};
	if (type->kind == ST_TYPE_FLOAT)
		f.form = type->size == 4 ? ST_FORM_FLOAT : ST_FORM_DOUBLE;
	if (type->kind == ST_TYPE_FLOAT && type->size < 8 && type->size != 4) {
		st_feature_skip(s, item, NULL, "Strobe does not read values of its type");
		return;
	}
	if (type->size > 8) {
		st_feature_skip(s, item, NULL, "it is a number of more than 64 bits");
		return;
	}
	if (st_feature_is_full(s)) {
		s->table->left_out++;
		return;
	}
	f.op = st_feature_read(s, &item->where, type, bits, bit_offset);
	st_feature_add(s, item, st_feature_path_of_value(item), NULL, f);
}

static void
queue_target(struct st_feature_search *s, const struct st_feature_item *pointer, uint16_t address,
             bool is_reference)
{
	struct st_feature_item *slot = ST_PUSH(&s->queue);
	if (!slot) {
		s->table->no_memory = true;
		return;
	}
	*slot = *pointer;
	slot->path = is_reference && !pointer->behind ? st_text_of("%s", pointer->path)
	                                              : st_feature_path_of_value(pointer);
	slot->behind = !is_reference;
	slot->is_base = false;
	slot->type = pointer->type->target;
	slot->type_name = pointer->type->target_name;
	slot->where = (struct st_feature_where){.base = address};
	slot->depth = pointer->depth + 1;
	slot->origin = pointer->origin == ST_FROM_GLOBAL ? ST_FROM_GLOBAL : ST_FROM_MEMBER;
	if (is_reference && pointer->depth == 0)
		slot->origin = pointer->origin;
	s->table->no_memory |= !slot->path;
}

static bool
is_visited(const struct st_feature_item *item, const struct st_type *type)
{
	for (unsigned i = 0; i < item->n_around; i++)
		if (item->around[i] == type)
			return true;
	return false;
}

static const char *
why_not_followed(const struct st_feature_search *s, const struct st_feature_item *item)
{
	const struct st_type *target = item->type->target;
	if (!target)
		return "it is a pointer to void";
	if (target->kind == ST_TYPE_UNKNOWN)
		return "it points to code, or to data of a kind that Strobe does not read";
	if (target->is_declaration)
		return "the debug information of this file only declares its type";
	if (is_visited(item, target))
		return "its type already occurs on the path to it";
	if (item->depth >= s->limits.depth)
		return "it is reached through more pointers than --depth allows";
	return NULL;
}

static void
add_text_length(struct st_feature_search *s, const struct st_feature_item *item, uint16_t address)
{
	char *value = st_feature_path_of_value(item);
	struct st_feature f = {
	        .how = ST_BY_LENGTH, .form = ST_FORM_UNSIGNED, .type_name = "size_t"};
	f.op = st_feature_emit(s, (struct st_record_op){.kind = ST_RECORD_LENGTH, .base = address});
	st_feature_add(s, item, value ? st_text_of("strlen(%s)", value) : NULL, "length", f);
	free(value);
}

static void
add_null_flag(struct st_feature_search *s, const struct st_feature_item *item, uint16_t address)
{
	char *value = st_feature_path_of_value(item);
	struct st_feature f = {.how = ST_BY_NULL,
	                       .kind = ST_FEATURE_FLAG,
	                       .form = ST_FORM_UNSIGNED,
	                       .type_name = "bool"};
	f.op = st_feature_emit(s, (struct st_record_op){.kind = ST_RECORD_NULL, .base = address});
	st_feature_add(s, item, value ? st_text_of("%s == 0", value) : NULL, "null", f);
	free(value);
}

static void
add_pointer(struct st_feature_search *s, const struct st_feature_item *item)
{
	const bool is_reference = item->type->kind == ST_TYPE_REFERENCE;
	const char *why = why_not_followed(s, item);
	if (st_feature_is_full(s)) {
		s->table->left_out++;
		return;
	}
	const uint16_t address = st_feature_read(s, &item->where, item->type, 0, 0);
	if (address == ST_NO_OP) {
		s->table->left_out++;
		return;
	}
	/* `this` is never null. */
	if (!is_reference && strcmp(item->path, "this"))
		add_null_flag(s, item, address);
	if (why)
		st_feature_skip(s, item, NULL, why);
	else if (!is_reference && item->type->target->kind == ST_TYPE_CHAR)
		add_text_length(s, item, address);
	else
		queue_target(s, item, address, is_reference);
}

static void
add_array(struct st_feature_search *s, const struct st_feature_item *item)
{
	const struct st_type *type = item->type, *element = type->target;
	struct st_feature f = {.form = ST_FORM_UNSIGNED, .type_name = "size_t"};
	if (!type->count || !element) {
		st_feature_skip(s, item, NULL, "the number of its elements is not known");
		return;
	}
	f.how = ST_BY_COUNT;
	f.op = st_feature_emit(
	        s, (struct st_record_op){.kind = ST_RECORD_CONSTANT, .extra = type->count});
	char *value = st_feature_path_of_value(item);
	st_feature_add(s, item,
	               value ? st_text_of("sizeof(%s) / sizeof(%s)", value, type->target_name)
	                     : NULL,
	               "count", f);
	const bool adds = element->kind == ST_TYPE_SIGNED || element->kind == ST_TYPE_UNSIGNED ||
	                  element->kind == ST_TYPE_BOOL;
	if (!adds || element->size > 8 || item->where.in_registers ||
	    !fits_offset(item->where.offset)) {
		if (element->kind != ST_TYPE_CHAR)
			st_feature_skip(s, item, NULL, "only the number of its elements is read");
		free(value);
		return;
	}
	f.how = ST_BY_SUM;
	f.form = element->kind == ST_TYPE_SIGNED ? ST_FORM_SIGNED : ST_FORM_UNSIGNED;
	f.op = st_feature_emit(s, (struct st_record_op){.kind = ST_RECORD_SUM,
	                                                .base = item->where.base,
	                                                .offset = (int32_t)item->where.offset,
	                                                .width = (uint8_t)element->size,
	                                                .is_signed = f.form == ST_FORM_SIGNED,
	                                                .extra = type->count});
	st_feature_add(s, item, value, "sum", f);
}

static void add_data(struct st_feature_search *s, struct st_feature_item *item, uint32_t bits,
                     uint32_t bit_offset);

/* The virtual table of an object has the offset of its virtual base class. */
static bool
find_virtual_base(struct st_feature_search *s, const struct st_feature_item *object,
                  const struct st_member *m, struct st_feature_where *where)
{
	struct st_record_op table = {.kind = ST_RECORD_LOAD,
	                             .base = object->where.base,
	                             .offset = (int32_t)object->where.offset,
	                             .width = 8};
	if (object->where.in_registers || !fits_offset(object->where.offset) ||
	    m->virtual_at > INT32_MAX)
		return false;
	const uint16_t vptr = st_feature_emit(s, table);
	table = (struct st_record_op){.kind = ST_RECORD_LOAD,
	                              .base = vptr,
	                              .offset = -(int32_t)m->virtual_at,
	                              .width = 8};
	const uint16_t distance = vptr == ST_NO_OP ? ST_NO_OP : st_feature_emit(s, table);
	struct st_record_op add = {
	        .kind = ST_RECORD_ADD, .base = object->where.base, .other = distance};
	const uint16_t base = distance == ST_NO_OP ? ST_NO_OP : st_feature_emit(s, add);
	*where = (struct st_feature_where){.base = base, .offset = object->where.offset};
	return base != ST_NO_OP;
}

static void
add_member_data(struct st_feature_search *s, const struct st_feature_item *object,
                const struct st_member *m, struct st_feature_where where)
{
	struct st_feature_item item = *object;
	/* A base class, or a member without a name, is part of the object's own path. */
	const bool is_inner = m->is_base || !m->name;
	item.path = is_inner ? st_text_of("%s", object->path)
	                     : st_feature_path_of_member(object, m->name);
	item.behind = is_inner && object->behind;
	item.is_base = m->is_base;
	item.type = m->type;
	item.type_name = m->type_name;
	item.where = where;
	if (item.path)
		add_data(s, &item, m->bits, m->bit_offset);
	s->table->no_memory |= !item.path;
	free(item.path);
}

static void
add_class_of(struct st_feature_search *s, const struct st_feature_item *item)
{
	const int64_t at = st_type_vptr(s->table->image, item->type);
	struct st_feature_where where = item->where;
	static const struct st_type word = {.kind = ST_TYPE_UNSIGNED, .size = 8};
	struct st_feature f = {.how = ST_BY_CLASS,
	                       .kind = ST_FEATURE_CATEGORY,
	                       .form = ST_FORM_UNSIGNED,
	                       .type_name = "class"};
	/* An object that is not reached through a pointer has the class that the source states. */
	if (at < 0 || item->is_base || item->where.in_registers || !item->depth)
		return;
	where.offset += at;
	f.op = st_feature_read(s, &where, &word, 0, 0);
	char *value = st_feature_path_of_value(item);
	st_feature_add(s, item, value ? st_text_of("typeid(%s)", value) : NULL, "class", f);
	free(value);
}

/* Returns whether the member is one of those of std::string that share their bytes: the characters
 * of a short text, and the capacity of a long one. */
static bool
is_in_short_text(const struct st_member *m)
{
	return m->name &&
	       (!strcmp(m->name, "_M_allocated_capacity") || !strcmp(m->name, "_M_local_buf"));
}

static void
add_members(struct st_feature_search *s, struct st_feature_item *item)
{
	struct st_type *type = item->type;
	st_type_open(s->table->image, type);
	const size_t n = type->members.n;
	struct st_feature_end *ends = calloc(n + 1, sizeof *ends);
	if (!ends) {
		s->table->no_memory = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct st_member *m = &type->members.v[i];
		ends[i] = (struct st_feature_end){.type = m->type, .where = item->where};
		ends[i].where.offset += (int64_t)m->offset;
		if (!m->bits && !m->is_base && type->kind == ST_TYPE_STRUCT)
			ends[i].name = m->name;
	}
	st_feature_container(s, item, ends, n);
	st_feature_pairs(s, item, ends, n);
	for (size_t i = 0; i < n; i++) {
		const struct st_member *m = &type->members.v[i];
		if (m->is_artificial || !m->type || ends[i].is_pair ||
		    (m->name && !strncmp(m->name, "_vptr", 5)))
			continue;
		if (is_in_short_text(m))
			continue;
		if (m->is_virtual && !find_virtual_base(s, item, m, &ends[i].where))
			st_feature_skip(s, item, m->name, "it is a virtual base class");
		else
			add_member_data(s, item, m, ends[i].where);
	}
	if (type->unread)
		st_feature_skip(s, item, NULL, type->unread);
	free(ends);
}

static bool
is_begun_by(const char *name, const char *begin)
{
	return name && *name == *begin && !strncmp(name, begin, strlen(begin));
}

/* Returns whether the object is a mutex, a condition variable, a read-write lock, a barrier or a
 * semaphore of the C library. Its type is a union without a name, which has the data as `__data`,
 * or only as bytes. */
static bool
is_lock(struct st_feature_search *s, const struct st_feature_item *item)
{
	static const char *const locks[] = {"pthread_mutex_t",
	                                    "pthread_cond_t",
	                                    "pthread_rwlock_t",
	                                    "pthread_barrier_t",
	                                    "sem_t",
	                                    "mtx_t",
	                                    "cnd_t"};
	struct st_type *type = item->type;
	for (size_t i = 0; item->type_name && i < sizeof locks / sizeof *locks; i++)
		if (*item->type_name == *locks[i] && !strcmp(item->type_name, locks[i]))
			return true;
	if (is_begun_by(type->name, "__pthread_"))
		return true;
	if (type->kind != ST_TYPE_UNION)
		return false;
	st_type_open(s->table->image, type);
	for (size_t i = 0; i < type->members.n; i++) {
		const struct st_member *m = &type->members.v[i];
		if (m->name && m->type && !strcmp(m->name, "__data") &&
		    is_begun_by(m->type->name, "__pthread_"))
			return true;
	}
	return false;
}

/* Bytes of libstdc++ for an object that is made later: it is read as the object. */
static bool
add_buffer(struct st_feature_search *s, const struct st_feature_item *item)
{
	struct st_feature_item object = *item;
	if (!is_begun_by(item->type->name, "__aligned_membuf<") ||
	    !(object.type = st_type_argument(s->table->image, item->type)) ||
	    object.type->size > item->type->size)
		return false;
	object.type_name = object.type->name;
	object.path = st_feature_path_of_member(item, "_M_ptr()");
	object.behind = true;
	object.is_base = false;
	s->table->no_memory |= !object.path;
	if (object.path)
		add_data(s, &object, 0, 0);
	free(object.path);
	return true;
}

static void
add_object(struct st_feature_search *s, struct st_feature_item *item)
{
	const struct st_type *type = item->type;
	if (add_buffer(s, item))
		return;
	if (type->is_declaration) {
		st_feature_skip(s, item, NULL,
		                "the debug information of this file only declares its type");
		return;
	}
	if (is_lock(s, item)) {
		st_feature_skip(s, item, NULL, "it is a lock, whose state other threads change");
		return;
	}
	if (is_visited(item, type) || item->n_around == ST_FEATURE_CHAIN) {
		st_feature_skip(s, item, NULL, "its type already occurs on the path to it");
		return;
	}
	add_class_of(s, item);
	item->around[item->n_around++] = type;
	add_members(s, item);
	item->n_around--;
}

static void
add_data(struct st_feature_search *s, struct st_feature_item *item, uint32_t bits,
         uint32_t bit_offset)
{
	switch (item->type ? item->type->kind : ST_TYPE_UNKNOWN) {
	case ST_TYPE_SIGNED:
	case ST_TYPE_UNSIGNED:
	case ST_TYPE_CHAR:
	case ST_TYPE_BOOL:
	case ST_TYPE_ENUM:
	case ST_TYPE_FLOAT:
		add_scalar(s, item, bits, bit_offset);
		break;
	case ST_TYPE_POINTER:
	case ST_TYPE_REFERENCE:
		add_pointer(s, item);
		break;
	case ST_TYPE_STRUCT:
	case ST_TYPE_UNION:
		add_object(s, item);
		break;
	case ST_TYPE_ARRAY:
		add_array(s, item);
		break;
	case ST_TYPE_UNKNOWN:
	case ST_TYPE_COMPLEX:
	case ST_TYPE_VECTOR:
		st_feature_skip(s, item, NULL, "Strobe does not read values of its type");
	}
}

/* ---- parameters and globals ---- */

static uint16_t
emit_register(struct st_feature_search *s, uint8_t number)
{
	const bool vector = number >= ST_PLACE_GENERAL;
	return st_feature_emit(
	        s, (struct st_record_op){
	                   .kind = vector ? ST_RECORD_VECTOR : ST_RECORD_REGISTER,
	                   .base = (uint16_t)(vector ? number - ST_PLACE_GENERAL : number)});
}

/* Emits the operations that locate an argument. False: its location is not known, or there is no
 * space for the operations. */
static bool
place_of_argument(struct st_feature_search *s, const struct st_parameter *p,
                  struct st_feature_where *where)
{
	const struct st_place *place = &p->place;
	*where = (struct st_feature_where){.base = ST_NO_OP};
	if (place->kind == ST_PLACE_REGISTERS) {
		where->base = emit_register(s, place->registers[0]);
		if (place->n > 1 && emit_register(s, place->registers[1]) == ST_NO_OP)
			where->base = ST_NO_OP;
		where->in_registers = !place->is_address;
	} else if (place->kind == ST_PLACE_STACK) {
		where->base = st_feature_emit(
		        s,
		        (struct st_record_op){.kind = place->is_address ? ST_RECORD_STACK
		                                                        : ST_RECORD_STACK_ADDRESS,
		                              .offset = place->stack});
	}
	return where->base != ST_NO_OP;
}

static void
add_parameters(struct st_feature_search *s)
{
	const struct st_signature *sig = s->table->signature;
	const size_t n = sig->parameters.n;
	struct st_feature_end *ends = calloc(n + 1, sizeof *ends);
	const struct st_feature_item nothing = {.origin = ST_FROM_PARAMETER};
	if (!ends) {
		s->table->no_memory = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct st_parameter *p = &sig->parameters.v[i];
		if (p->name && p->type && place_of_argument(s, p, &ends[i].where)) {
			ends[i].type = p->type;
			ends[i].name = p->name;
		}
	}
	st_feature_pairs(s, &nothing, ends, n);
	for (size_t i = 0; i < n; i++) {
		const struct st_parameter *p = &sig->parameters.v[i];
		struct st_feature_item item = {.type = p->type,
		                               .type_name = p->type_name,
		                               .where = ends[i].where,
		                               .origin = ST_FROM_PARAMETER};
		item.path = st_text_of("%s", p->name ? p->name : "(unnamed)");
		if (item.path && ends[i].name && !ends[i].is_pair)
			add_data(s, &item, 0, 0);
		else if (item.path && !ends[i].name && p->place.kind != ST_PLACE_NOWHERE)
			st_feature_skip(s, &item, NULL,
			                p->place.why ? p->place.why
			                : !p->name   ? "the parameter has no name"
			                             : "there is no space left for it");
		s->table->no_memory |= !item.path;
		free(item.path);
	}
	free(ends);
}

static void
add_globals(struct st_feature_search *s)
{
	const struct st_signature *sig = s->table->signature;
	for (size_t i = 0; i < sig->n_globals && !st_feature_is_full(s); i++) {
		const struct st_global *g = &sig->globals[i];
		struct st_feature_item item = {
		        .type = g->type, .type_name = g->type_name, .origin = ST_FROM_GLOBAL};
		if (!g->name || !g->type)
			continue;
		item.where.base = st_feature_emit(
		        s, (struct st_record_op){.kind = ST_RECORD_CONSTANT, .extra = g->address});
		/* is_signed marks an address of the image, to which the load bias is added. */
		if (item.where.base == ST_NO_OP)
			return;
		s->table->ops.v[item.where.base].is_signed = 1;
		item.path = st_text_of("%s", g->name);
		if (item.path)
			add_data(s, &item, 0, 0);
		s->table->no_memory |= !item.path;
		free(item.path);
	}
}

static void
follow_pointers(struct st_feature_search *s)
{
	for (size_t i = 0; i < s->queue.n; i++) {
		struct st_feature_item item = s->queue.v[i]; /* the queue may move */
		if (item.path)
			add_data(s, &item, 0, 0);
		free(item.path);
	}
	s->queue.n = 0;
}

st_status
st_features_find(struct st_feature_table *t, struct st_image *image, uint64_t entry,
                 const struct st_feature_limits *limits, struct st_error *e)
{
	const struct st_function *f = st_image_function(image, entry);
	*t = (struct st_feature_table){.image = image, .entry = entry};
	struct st_feature_search s = {.table = t, .limits = *limits};
	t->name = f ? f->name : "(unknown)";
	t->signature = st_image_signature(image, entry);
	if (!t->signature)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s: the debug information of %s does not describe it", t->name,
		               st_image_path(image));
	add_parameters(&s);
	follow_pointers(&s);
	add_globals(&s);
	follow_pointers(&s);
	free(s.queue.v);
	if (limits->machine)
		t->no_memory |= st_features_add_machine(t) != ST_OK;
	return t->no_memory ? st_fail(e, ST_EXIT_FAILED, "no memory left for the features") : ST_OK;
}

void
st_features_free(struct st_feature_table *t)
{
	for (size_t i = 0; i < t->features.n; i++) {
		free(t->features.v[i].name);
		free(t->features.v[i].path);
	}
	for (size_t i = 0; i < t->skipped.n; i++)
		free(t->skipped.v[i].path);
	free(t->features.v);
	free(t->skipped.v);
	free(t->ops.v);
}
