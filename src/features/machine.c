/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the machine as features of every function. */
#include <string.h>

#include "base/text.h"
#include "features/internal.h"
#include "wire/machine.h"

static const struct {
	const char *path, *type_name;
} machine_features[] = {
#define F(id, name, type) {"machine." name, type},
        ST_MACHINE_FEATURES(F)
#undef F
};

st_status
st_features_add_machine(struct st_feature_table *t)
{
	for (unsigned i = 0; i < ST_MACHINE_COUNT; i++) {
		const bool real = !strcmp(machine_features[i].type_name, "double");
		struct st_feature f = {
		        .path = st_text_of("%s", machine_features[i].path),
		        .name = st_feature_name_of(t, machine_features[i].path, NULL),
		        .type_name = machine_features[i].type_name,
		        .origin = ST_FROM_SYSTEM,
		        .form = real ? ST_FORM_DOUBLE : ST_FORM_UNSIGNED,
		        .op = (uint16_t)t->ops.n};
		struct st_record_op *op = f.path && f.name ? ST_PUSH(&t->ops) : NULL;
		struct st_feature *to = op ? ST_PUSH(&t->features) : NULL;
		if (!to) {
			free(f.path);
			free(f.name);
			return ST_FAILED;
		}
		*op = (struct st_record_op){
		        .kind = ST_RECORD_MACHINE, .base = (uint16_t)i, .kept = 1};
		*to = f;
	}
	return ST_OK;
}
