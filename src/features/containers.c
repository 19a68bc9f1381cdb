/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sizes of containers of libstdc++ that no pair of pointers delimits: std::deque, which queues and
 * stacks use, has its elements in nodes of equal size, and std::vector<bool> has them in words.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "features/internal.h"

enum { DEQUE_NODE = 512, BITS_OF_WORD = 64 };

/* A member of an iterator, or of its base class. */
static bool
container_find_field(struct st_feature_search *s, const struct st_feature_end *iterator,
                     const char *name, struct st_feature_end *field)
{
	*field = *iterator;
	for (int depth = 0; depth < 2 && field->type && field->type->kind == ST_TYPE_STRUCT;
	     depth++) {
		const struct st_member *base = NULL;
		st_type_open(s->table->image, field->type);
		for (size_t i = 0; i < field->type->members.n; i++) {
			const struct st_member *m = &field->type->members.v[i];
			base = m->is_base && !m->is_virtual ? m : base;
			if (!m->name || m->is_base || strcmp(m->name, name))
				continue;
			field->type = m->type;
			field->where.offset += (int64_t)m->offset;
			return m->type;
		}
		field->type = base ? base->type : NULL;
		field->where.offset += base ? (int64_t)base->offset : 0;
	}
	return false;
}

static uint16_t
container_read(struct st_feature_search *s, const struct st_feature_end *iterator, const char *name)
{
	struct st_feature_end field;
	return container_find_field(s, iterator, name, &field)
	               ? st_feature_read(s, &field.where, field.type, 0, 0)
	               : ST_NO_OP;
}

/* The operation on one value, or on two; ST_NO_OP if one of them is missing. */
static uint16_t
container_emit(struct st_feature_search *s, enum st_record_op_kind kind, uint16_t a, uint16_t b,
               uint64_t extra)
{
	if (a == ST_NO_OP || b == ST_NO_OP)
		return ST_NO_OP;
	return st_feature_emit(
	        s, (struct st_record_op){
	                   .kind = (uint8_t)kind, .base = a, .other = b, .extra = extra});
}

/* Nodes between those of the ends, without the first one, times the elements of a node; and the
 * elements in the first node and in the last one. */
static uint16_t
container_size_of_deque(struct st_feature_search *s, const struct st_feature_end *start,
                        const struct st_feature_end *finish)
{
	struct st_feature_end current;
	if (!container_find_field(s, start, "_M_cur", &current) ||
	    current.type->kind != ST_TYPE_POINTER || !current.type->target ||
	    !current.type->target->size)
		return ST_NO_OP;
	const uint64_t size = current.type->target->size,
	               each = size < DEQUE_NODE ? DEQUE_NODE / size : 1;
	const uint16_t nodes = container_emit(s, ST_RECORD_DIFFERENCE,
	                                      container_read(s, finish, "_M_node"),
	                                      container_read(s, start, "_M_node"), 8),
	               last = container_emit(s, ST_RECORD_DIFFERENCE,
	                                     container_read(s, finish, "_M_cur"),
	                                     container_read(s, finish, "_M_first"), size),
	               first = container_emit(s, ST_RECORD_DIFFERENCE,
	                                      container_read(s, start, "_M_last"),
	                                      container_read(s, start, "_M_cur"), size),
	               between = container_emit(s, ST_RECORD_MULTIPLY, nodes, 0, each),
	               less = container_emit(s, ST_RECORD_CONSTANT, 0, 0, 0 - each);
	return container_emit(s, ST_RECORD_ADD, container_emit(s, ST_RECORD_ADD, between, less, 0),
	                      container_emit(s, ST_RECORD_ADD, first, last, 0), 0);
}

static uint16_t
container_size_of_bits(struct st_feature_search *s, const struct st_feature_end *start,
                       const struct st_feature_end *finish)
{
	const uint16_t words = container_emit(s, ST_RECORD_DIFFERENCE,
	                                      container_read(s, finish, "_M_p"),
	                                      container_read(s, start, "_M_p"), 8),
	               bits = container_emit(s, ST_RECORD_DIFFERENCE,
	                                     container_read(s, finish, "_M_offset"),
	                                     container_read(s, start, "_M_offset"), 1);
	return container_emit(s, ST_RECORD_ADD,
	                      container_emit(s, ST_RECORD_MULTIPLY, words, 0, BITS_OF_WORD), bits,
	                      0);
}

/* "d.size()" for the data in d._M_impl. */
static void
container_add_size(struct st_feature_search *s, const struct st_feature_item *data, uint16_t op)
{
	static const char inner[] = "_M_impl";
	const size_t n = strlen(data->path) - (sizeof inner - 1);
	struct st_feature f = {
	        .how = ST_BY_DIFFERENCE, .form = ST_FORM_SIGNED, .type_name = "size", .op = op};
	struct st_feature_item container = *data;
	container.path = st_text_of("%.*s", (int)n, data->path);
	container.behind = false;
	s->table->no_memory |= !container.path;
	if (container.path)
		st_feature_add(s, &container, st_text_of("%ssize()", container.path), "size", f);
	free(container.path);
}

static bool
container_is_inner(const char *path)
{
	const size_t n = path ? strlen(path) : 0;
	return n > 8 && !strcmp(path + n - 7, "_M_impl");
}

void
st_feature_container(struct st_feature_search *s, const struct st_feature_item *data,
                     struct st_feature_end *v, size_t n)
{
	struct st_feature_end *start = NULL, *finish = NULL;
	if (!container_is_inner(data->path))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!v[i].name || !v[i].type || !v[i].type->name)
			continue;
		start = strcmp(v[i].name, "_M_start") ? start : &v[i];
		finish = strcmp(v[i].name, "_M_finish") ? finish : &v[i];
	}
	if (!start || !finish || start->type != finish->type || start->where.in_registers)
		return;
	const bool is_deque = !strncmp(start->type->name, "_Deque_iterator<", 16);
	if (!is_deque && strcmp(start->type->name, "_Bit_iterator"))
		return;
	const uint16_t op = is_deque ? container_size_of_deque(s, start, finish)
	                             : container_size_of_bits(s, start, finish);
	start->is_pair = finish->is_pair = true;
	/* Pointers beside the iterators lead to memory without elements. */
	for (size_t i = 0; i < n; i++)
		v[i].is_pair |= v[i].type && v[i].type->kind == ST_TYPE_POINTER;
	if (op == ST_NO_OP)
		s->table->left_out++;
	else
		container_add_size(s, data, op);
}
