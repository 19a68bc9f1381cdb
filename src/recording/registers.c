/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/registers.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char *const register_names[ST_REGISTERS] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};

/* The operations of each register, all of which are kept. */
enum {
	OP_VALUE,
	OP_MEMORY, /* a byte where the value points to: absent if it is no address */
	OP_NULL,
	OPS
};

/* Smaller values may be sizes that are addresses by chance: a program that is not
 * position-independent lies at 4 MiB. */
static const uint64_t least_far = 1ull << 32;

st_status
st_registers_find(struct st_feature_table *table, struct st_image *image, uint64_t entry)
{
	const struct st_function *f = st_image_function(image, entry);
	*table = (struct st_feature_table){.image = image, .entry = entry};
	table->name = f ? f->name : "(unknown)";
	for (unsigned i = 0; i < ST_REGISTERS; i++) {
		const uint16_t at = (uint16_t)(OPS * i);
		const struct st_record_op ops[OPS] = {
		        [OP_VALUE] = {.kind = ST_RECORD_REGISTER, .base = (uint16_t)i, .kept = 1},
		        [OP_MEMORY] = {.kind = ST_RECORD_LOAD, .width = 1, .base = at, .kept = 1},
		        [OP_NULL] = {.kind = ST_RECORD_NULL, .base = at, .kept = 1}};
		struct st_record_op *to = NULL;
		for (size_t k = 0; k < OPS && (to = ST_PUSH(&table->ops)); k++)
			*to = ops[k];
		struct st_feature *feature = to ? ST_PUSH(&table->features) : NULL;
		if (!feature)
			return ST_FAILED;
		*feature = (struct st_feature){.name = strdup(register_names[i]),
		                               .path = strdup(register_names[i]),
		                               .type_name = "register",
		                               .form = ST_FORM_SIGNED,
		                               .op = (uint16_t)(at + OP_VALUE)};
		if (!feature->name || !feature->path)
			return ST_FAILED;
	}
	return ST_OK;
}

void
st_registers_see(struct st_registers_seen *s, const uint64_t *values, const uint64_t *absent)
{
	for (size_t i = 0; i < ST_REGISTERS; i++) {
		const uint64_t value = values[OPS * i + OP_VALUE];
		const size_t memory = OPS * i + OP_MEMORY;
		const bool mapped = value && !(absent[memory / 64] >> memory % 64 & 1);
		s->others[i] += value != 0;
		s->mapped[i] += mapped;
		s->far[i] |= mapped && value >= least_far;
	}
}

st_status
st_registers_decide(const struct st_registers_seen *s, struct st_feature_table *table)
{
	for (size_t i = 0; i < ST_REGISTERS && i < table->features.n; i++) {
		struct st_feature *f = &table->features.v[i];
		const bool address =
		        s->far[i] || (s->mapped[i] && 2 * s->mapped[i] >= s->others[i]);
		char *name = st_text_of("%s%s", register_names[i], address ? "_null" : "");
		if (!name)
			return ST_FAILED;
		free(f->name);
		f->name = name;
		f->kind = address ? ST_FEATURE_FLAG : ST_FEATURE_NUMBER;
		f->how = address ? ST_BY_NULL : ST_BY_VALUE;
		f->op = (uint16_t)(OPS * i + (address ? OP_NULL : OP_VALUE));
	}
	return ST_OK;
}
