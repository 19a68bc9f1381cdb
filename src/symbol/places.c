/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locates the arguments when a function is entered, by the classes of the System V ABI for x86-64,
 * section 3.2.3. Debug information is not enough: without optimization it names stack slots that
 * the function's first instructions have yet to fill.
 */
#include "symbol/typeread.h"

enum class { CLASS_NONE, CLASS_INTEGER, CLASS_SSE, CLASS_SSE_UP, CLASS_MEMORY };

struct classes {
	enum class of[2]; /* of the first and the second eight bytes */
	bool in_memory;
};

enum { DEEPEST_CLASS = 32, MOST_CLASSED = 4096 };

static void
merge_class(struct classes *c, uint64_t offset, enum class new)
{
	if (offset >= 16) {
		c->in_memory = true;
		return;
	}
	enum class *old = &c->of[offset / 8];
	if (*old == CLASS_NONE || new == CLASS_INTEGER || new == CLASS_MEMORY)
		*old = *old == CLASS_MEMORY ? *old : new;
}

/* budget: a damaged file can describe a type without end. */
static void
classify(struct st_image *image, struct st_type *type, uint64_t offset, struct classes *c,
         int depth, int *budget)
{
	if (!type || depth > DEEPEST_CLASS || --*budget < 0) {
		c->in_memory = true;
		return;
	}
	switch (type->kind) {
	case ST_TYPE_FLOAT:
		if (type->size > 8 && type->name && strstr(type->name, "long double")) {
			c->in_memory = true;
			break;
		}
		merge_class(c, offset, CLASS_SSE);
		if (type->size > 8)
			merge_class(c, offset + 8, CLASS_SSE_UP);
		break;
	case ST_TYPE_COMPLEX:
		if (type->size > 16) {
			c->in_memory = true;
			break;
		}
		merge_class(c, offset, CLASS_SSE);
		if (type->size > 8)
			merge_class(c, offset + 8, CLASS_SSE);
		break;
	case ST_TYPE_VECTOR:
		merge_class(c, offset, CLASS_SSE);
		if (type->size > 8)
			merge_class(c, offset + 8, CLASS_SSE_UP);
		break;
	case ST_TYPE_STRUCT:
	case ST_TYPE_UNION:
		st_type_open(image, type);
		for (size_t i = 0; i < type->members.n; i++) {
			const struct st_member *m = &type->members.v[i];
			if (m->bits)
				merge_class(c, offset + m->offset, CLASS_INTEGER);
			else
				classify(image, m->type, offset + m->offset, c, depth + 1, budget);
			c->in_memory |= m->is_virtual;
		}
		break;
	case ST_TYPE_ARRAY:
		for (uint64_t i = 0; i < type->count && type->target && i < 16; i++)
			classify(image, type->target, offset + i * type->target->size, c, depth + 1,
			         budget);
		break;
	default:
		merge_class(c, offset, CLASS_INTEGER);
		if (type->size > 8)
			merge_class(c, offset + 8, CLASS_INTEGER);
	}
}

static bool
is_composite(const struct st_type *type)
{
	return type->kind == ST_TYPE_STRUCT || type->kind == ST_TYPE_UNION ||
	       type->kind == ST_TYPE_ARRAY;
}

static struct classes
classes_of(struct st_image *image, struct st_type *type)
{
	struct classes c = {0};
	int budget = MOST_CLASSED;
	if (is_composite(type) && type->size > 16)
		c.in_memory = true;
	else
		classify(image, type, 0, &c, 0, &budget);
	return c;
}

/* Registers and bytes of stack that the arguments so far have taken. */
struct taken {
	uint8_t general, vectors;
	int32_t stack;
};

static struct st_place
place_on_stack(struct taken *t, const struct st_type *type)
{
	const int32_t align =
	        type->kind != ST_TYPE_STRUCT && type->kind != ST_TYPE_UNION && type->size == 16 ? 16
	                                                                                        : 8;
	t->stack = (t->stack + align - 1) & -align;
	const struct st_place place = {.kind = ST_PLACE_STACK, .stack = t->stack};
	t->stack += (int32_t)((type->size + 7) & ~7ull);
	return place;
}

static struct st_place
place_by_address(struct taken *t)
{
	static const struct st_type pointer = {.kind = ST_TYPE_POINTER, .size = 8};
	struct st_place place = {.kind = ST_PLACE_REGISTERS, .n = 1, .is_address = true};
	if (t->general == ST_PLACE_GENERAL) {
		place = place_on_stack(t, &pointer);
		place.is_address = true;
	} else {
		place.registers[0] = t->general++;
	}
	return place;
}

/* An argument gets all the registers that it needs, or goes to the stack as a whole. */
static struct st_place
place_in_registers(struct taken *t, const struct classes *c, const struct st_type *type)
{
	struct st_place place = {.kind = ST_PLACE_REGISTERS};
	struct taken now = *t;
	for (int i = 0; i < 2; i++) {
		if (c->of[i] == CLASS_INTEGER)
			place.registers[place.n++] = now.general++;
		else if (c->of[i] == CLASS_SSE)
			place.registers[place.n++] = (uint8_t)(ST_PLACE_GENERAL + now.vectors++);
	}
	if (now.general > ST_PLACE_GENERAL || now.vectors > ST_PLACE_VECTORS)
		return place_on_stack(t, type);
	*t = now;
	return place;
}

static struct st_place
place_argument(struct st_image *image, struct taken *t, struct st_type *type, bool is_rust)
{
	if (!type)
		return (struct st_place){.why = "its type is not known"};
	if (is_composite(type) && type->is_declaration)
		return (struct st_place){.why = "its type is only declared"};
	const enum sym_passing passing = is_rust ? SYM_BY_VALUE : sym_passing_of(image, type);
	if (passing == SYM_BY_ADDRESS)
		return place_by_address(t);
	if (passing == SYM_PASSING_UNKNOWN)
		return (struct st_place){.why = "the type of one of its members is only declared"};
	const struct classes c = classes_of(image, type);
	if (c.in_memory || c.of[0] == CLASS_MEMORY || c.of[1] == CLASS_MEMORY)
		return is_rust ? place_by_address(t) : place_on_stack(t, type);
	if (c.of[0] == CLASS_NONE && c.of[1] == CLASS_NONE)
		return (struct st_place){.kind = ST_PLACE_NOWHERE};
	return place_in_registers(t, &c, type);
}

/* A class that is returned by its address: the caller passes the address of the space for it before
 * all arguments. Returns why that is not known, or NULL. */
static const char *
place_result(struct st_image *image, struct taken *t, struct st_type *result, bool is_rust)
{
	if (!result || result->kind == ST_TYPE_UNKNOWN || !is_composite(result))
		return NULL; /* a long double is returned in an x87 register */
	const enum sym_passing passing = is_rust ? SYM_BY_VALUE : sym_passing_of(image, result);
	t->general = passing == SYM_BY_ADDRESS || classes_of(image, result).in_memory;
	return t->general || (passing != SYM_PASSING_UNKNOWN && !result->is_declaration)
	               ? NULL
	               : "the type of its result, or of a member of that, is only declared";
}

void
sym_place_arguments(struct st_image *image, struct st_parameter *v, size_t n,
                    struct st_type *result, bool is_rust)
{
	struct taken t = {0};
	const char *lost = place_result(image, &t, result, is_rust);
	for (size_t i = 0; i < n; i++) {
		if (lost)
			v[i].place = (struct st_place){.why = lost};
		else
			v[i].place = place_argument(image, &t, v[i].type, is_rust);
		if (v[i].place.kind == ST_PLACE_UNKNOWN)
			lost = lost ? lost : "the place of a parameter before it is not known";
	}
}
