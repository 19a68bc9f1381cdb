/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/covered.h"
#include "report/json.h"

static json_t *
sum_json(const struct st_covered_sum *s)
{
	json_t *out = json_object();
	json_object_set_new(out, "instructions", st_json_count(s->instructions));
	json_object_set_new(out, "blocks", st_json_count(s->blocks));
	json_object_set_new(out, "bytes", st_json_count(s->bytes));
	json_object_set_new(out, "raw_instructions", st_json_count(s->raw));
	return out;
}

static json_t *
missing_json(const struct st_covered_image *m, const struct st_covered_image *of)
{
	json_t *out = json_array();
	for (size_t i = 0; i < of->blocks.n; i++) {
		const struct st_covered_block *b = &of->blocks.v[i];
		uint32_t have = st_covered_have(m, of, b);
		if (have == b->insns)
			continue;
		json_t *row = json_object();
		json_object_set_new(row, "offset", st_json_count(b->offset));
		json_object_set_new(row, "bytes", st_json_count(b->bytes));
		json_object_set_new(row, "instructions", st_json_count(b->insns));
		json_object_set_new(row, "missing", st_json_count(b->insns - have));
		json_array_append_new(out, row);
	}
	return out;
}

static json_t *
covered_json_functions_json(const struct st_covered_image *m, const struct st_covered_image *of,
                            bool compared)
{
	struct st_covered_functions f;
	json_t *out = json_array();
	st_covered_by_function(&f, of, m);
	for (size_t i = 0; i < f.list.n; i++) {
		const struct st_covered_function *in = &f.list.v[i];
		json_t *row = json_object();
		json_object_set_new(row, "function",
		                    in->name ? st_json_text(in->name) : json_null());
		json_object_set_new(row, "offset", st_json_count(in->offset));
		json_object_set_new(row, "instructions", st_json_count(in->have));
		if (compared)
			json_object_set_new(row, "of", st_json_count(in->all));
		json_array_append_new(out, row);
	}
	st_covered_functions_free(&f);
	return out;
}

static json_t *
image_json(const struct st_covered_report *r, const struct st_covered_image *of,
           struct st_covered_sum *have, struct st_covered_sum *all)
{
	const struct st_covered_image *m = st_covered_find(r->logs, of->build_id);
	struct st_covered_sum h = {0}, a = {0};
	json_t *out = json_object();
	if (m) {
		st_covered_add(&h, m, of);
		st_covered_add(have, m, of);
	}
	st_covered_add(&a, of, NULL);
	st_covered_add(all, of, NULL);
	json_object_set_new(out, "image", st_json_text(of->path));
	json_object_set_new(out, "build_id", st_json_text(of->build_id));
	json_object_set_new(out, "measured", sum_json(&h));
	if (r->against) {
		json_object_set_new(out, "of", sum_json(&a));
		json_object_set_new(out, "missing", missing_json(m, of));
	}
	json_object_set_new(out, "functions",
	                    covered_json_functions_json(m, of, r->against != NULL));
	return out;
}

char *
st_covered_json(const struct st_covered_report *r, struct st_error *e)
{
	const struct st_covered *whole = r->against ? r->against : r->logs;
	struct st_covered_sum have = {0}, all = {0}, logs = {0};
	json_t *root = json_object(), *images = json_array();
	for (size_t i = 0; i < whole->images.n; i++)
		json_array_append_new(images, image_json(r, &whole->images.v[i], &have, &all));
	for (size_t i = 0; i < r->logs->images.n; i++)
		st_covered_add(&logs, &r->logs->images.v[i], NULL);
	json_object_set_new(root, "runs", st_json_count(r->logs->runs));
	json_object_set_new(root, "runs_without_end", st_json_count(r->logs->unended));
	json_object_set_new(root, "contexts", st_json_count(r->logs->contexts));
	json_object_set_new(root, "logs", sum_json(&logs));
	json_object_set_new(root, "measured", sum_json(&have));
	if (r->against)
		json_object_set_new(root, "of", sum_json(&all));
	json_object_set_new(root, "false_positives", st_json_count(logs.raw - logs.instructions));
	json_object_set_new(root, "refused", st_json_count(r->logs->refused));
	json_object_set_new(root, "false_negatives", st_json_count(r->logs->wrongly_refused));
	json_object_set_new(root, "images", images);
	return st_json_document(root, JSON_INDENT(2), "the coverage", e);
}
