/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes features as JSON; docs/json.md describes it. */
#include <inttypes.h>

#include "report/featuretable.h"
#include "report/json.h"

static json_t *
place_json(const struct st_place *place)
{
	static const char *const kinds[] = {[ST_PLACE_UNKNOWN] = "unknown",
	                                    [ST_PLACE_NOWHERE] = "nowhere",
	                                    [ST_PLACE_REGISTERS] = "registers",
	                                    [ST_PLACE_STACK] = "stack"};
	json_t *registers = json_array();
	for (unsigned i = 0; place->kind == ST_PLACE_REGISTERS && i < place->n; i++)
		json_array_append_new(registers,
		                      json_string(st_place_register(place->registers[i])));
	json_t *offset = place->kind == ST_PLACE_STACK ? json_integer(place->stack) : json_null();
	return json_pack("{s:s, s:o, s:o, s:b}", "kind", kinds[place->kind], "registers", registers,
	                 "stack", offset, "address", place->is_address);
}

static json_t *
parameters_json(const struct st_signature *s)
{
	json_t *all = json_array();
	for (size_t i = 0; i < s->parameters.n; i++) {
		const struct st_parameter *p = &s->parameters.v[i];
		json_array_append_new(all, json_pack("{s:o, s:o, s:o}", "name",
		                                     p->name ? st_json_text(p->name) : json_null(),
		                                     "type", st_json_text(p->type_name), "place",
		                                     place_json(&p->place)));
	}
	return all;
}

static json_t *
feature_json(const struct st_feature *f)
{
	return json_pack("{s:o, s:o, s:s, s:s, s:s, s:o}", "name", st_json_text(f->name), "path",
	                 st_json_text(f->path), "kind", st_feature_kind_name(f->kind), "origin",
	                 st_feature_origin_name(f->origin), "how", st_feature_how_name(f->how),
	                 "type", st_json_text(f->type_name));
}

json_t *
st_features_json(const struct st_feature_table *t)
{
	char address[32];
	json_t *features = json_array(), *skipped = json_array();
	snprintf(address, sizeof address, "0x%" PRIx64, t->entry);
	for (size_t i = 0; i < t->features.n; i++)
		json_array_append_new(features, feature_json(&t->features.v[i]));
	for (size_t i = 0; i < t->skipped.n; i++)
		json_array_append_new(skipped, json_pack("{s:o, s:s}", "path",
		                                         st_json_text(t->skipped.v[i].path), "why",
		                                         t->skipped.v[i].why));
	return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:i}", "function", st_json_text(t->name),
	                 "image", st_json_text(st_image_path(t->image)), "address", address,
	                 "parameters", parameters_json(t->signature), "features", features,
	                 "skipped", skipped, "left_out", (int)t->left_out);
}
