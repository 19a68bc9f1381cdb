/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a campaign as JSON: docs/json.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/output.h"
#include "report/json.h"

/* Inputs are bytes: as text where they are UTF-8, else with what is not escaped as \ooo. */
static json_t *
bytes_json(const struct st_fuzz_bytes *b)
{
	json_t *text = json_stringn((const char *)b->v, b->n);
	char *escaped = NULL;
	size_t size;
	if (text || !b->n)
		return text ? text : json_string("");
	FILE *out = open_memstream(&escaped, &size);
	if (out) {
		st_fuzz_bytes_print_escaped(b, SIZE_MAX, out);
		fclose(out);
	}
	text = escaped ? json_string(escaped) : NULL;
	free(escaped);
	return text;
}

static json_t *
law_json(const struct st_finding *f)
{
	const struct st_law *law = &f->law;
	json_t *out = json_object();
	json_object_set_new(out, "form", json_string(st_law_form_name(law)));
	/* All forms have the key `exponent`, so that readers find `lo` and `hi` around it. */
	json_object_set_new(out, "exponent", law->form ? st_json_real(law->of.at) : json_null());
	if (law->form == ST_LAW_EXPONENTIAL)
		json_object_set_new(out, "base", st_json_real(law->of.at));
	json_object_set_new(out, "lo", law->form ? st_json_real(law->of.low) : json_null());
	json_object_set_new(out, "hi", law->form ? st_json_real(law->of.high) : json_null());
	json_t *points = json_array();
	for (size_t i = 0; i < f->times.n; i++)
		json_array_append_new(points, json_pack("[f,f]", f->times.v[i], f->worked.v[i]));
	json_object_set_new(out, "points", points);
	return out;
}

static json_t *
path_json(const char *folder, size_t number, const char *name)
{
	char *path = NULL;
	json_t *out = asprintf(&path, "%s/findings/%zu/%s", folder, number, name) < 0
	                      ? NULL
	                      : st_json_text(path);
	free(path);
	return out;
}

/* Adds a part as text, which has escapes for what is not printable. */
static void
add_difference_part(void *parts, const struct st_fuzz_part *part)
{
	json_t *out = json_object();
	json_object_set_new(out, "kind",
	                    json_string(part->kind == ' '   ? "kept"
	                                : part->kind == '-' ? "removed"
	                                                    : "inserted"));
	json_object_set_new(out, "bytes", st_json_count(part->n));
	json_object_set_new(out, "text", bytes_json(&part->first));
	if (part->last.n)
		json_object_set_new(out, "end", bytes_json(&part->last));
	json_array_append_new(parts, out);
}

static json_t *
difference_json(const struct st_fuzz_difference *d, const struct st_fuzz_bytes *seed,
                const struct st_fuzz_bytes *witness)
{
	json_t *out = json_object(), *changes = json_array(), *parts = json_array();
	json_object_set_new(out, "unit", json_string(st_difference_unit_name(d->unit)));
	json_object_set_new(out, "kept", st_json_count(d->kept));
	for (size_t i = 0; i < d->list.n; i++) {
		const struct st_fuzz_change *c = &d->list.v[i];
		json_t *change = json_object();
		json_object_set_new(change, "seed_at", st_json_count(c->from));
		json_object_set_new(change, "removed", st_json_count(c->n_removed));
		json_object_set_new(change, "witness_at", st_json_count(c->to));
		json_object_set_new(change, "inserted", st_json_count(c->n_inserted));
		json_array_append_new(changes, change);
	}
	json_object_set_new(out, "changes", changes);
	st_fuzz_difference_parts(d, seed, witness, add_difference_part, parts);
	json_object_set_new(out, "parts", parts);
	return out;
}

static json_t *
stack_json(const struct st_fuzz_stack *s)
{
	json_t *out = json_object(), *frames = json_array();
	for (size_t i = 0; i < s->frames.n; i++) {
		const struct st_fuzz_frame *f = &s->frames.v[i];
		json_t *frame = json_object();
		json_object_set_new(frame, "function",
		                    f->function ? st_json_text(f->function) : json_null());
		json_object_set_new(frame, "image", st_json_text(f->image));
		json_object_set_new(frame, "offset", st_json_count(f->offset));
		json_object_set_new(frame, "file", f->file ? st_json_text(f->file) : json_null());
		json_object_set_new(frame, "line", f->line ? st_json_count(f->line) : json_null());
		json_array_append_new(frames, frame);
	}
	json_object_set_new(out, "frames", frames);
	json_object_set_new(out, "missing", s->missing ? json_string(s->missing) : json_null());
	return out;
}

static json_t *
campaign_series_json(const struct st_fuzz_series *s)
{
	json_t *out = json_array();
	for (size_t i = 0; i < s->list.n; i++) {
		const struct st_fuzz_moment *m = &s->list.v[i];
		json_t *moment = json_object();
		json_object_set_new(moment, "seconds", st_json_real(m->seconds));
		json_object_set_new(moment, "executions", st_json_count(m->executions));
		json_object_set_new(moment, "interesting", st_json_count(m->interesting));
		json_object_set_new(moment, "hangs", st_json_count(m->hangs));
		json_object_set_new(moment, "faults", st_json_count(m->faults));
		json_object_set_new(moment, "blocks", st_json_count(m->blocks));
		json_object_set_new(moment, "most", st_json_real(m->most));
		json_array_append_new(out, moment);
	}
	return out;
}

static json_t *
command_json(const struct st_fuzz_target *t)
{
	json_t *out = json_array();
	for (size_t i = 0; t->argv[i]; i++)
		json_array_append_new(out, t->channel != ST_CHANNEL_STDIN && i == t->at
		                                   ? json_string("@@")
		                                   : st_json_text(t->argv[i]));
	return out;
}

static json_t *
fuzz_finding_json(const struct st_fuzz_campaign *c, const struct st_finding *f, const char *folder,
                  size_t number)
{
	json_t *out = json_object(), *rules = json_array(), *varied = json_array();
	json_object_set_new(out, "kind", json_string(st_finding_kind_name(f->kind)));
	json_object_set_new(out, "function",
	                    f->function.name ? st_json_text(f->function.name) : json_null());
	json_object_set_new(out, "image",
	                    f->function.name ? st_json_text(f->function.image) : json_null());
	json_object_set_new(out, "law", f->has_family ? law_json(f) : json_null());
	json_object_set_new(out, "token",
	                    f->has_family ? bytes_json(&f->family.token) : json_null());
	for (size_t i = 0; i < f->family.n_varied; i++)
		json_array_append_new(varied, st_json_count(f->family.varied[i]));
	json_object_set_new(out, "varied", varied);
	json_object_set_new(out, "witness", path_json(folder, number, "witness"));
	json_object_set_new(out, "minimal", path_json(folder, number, "minimal"));
	json_object_set_new(out, "generator",
	                    f->has_family ? path_json(folder, number, "generate.sh") : json_null());
	json_object_set_new(out, "size", st_json_count(f->witness.n));
	json_object_set_new(out, "minimal_size", st_json_count(f->minimal.n));
	json_object_set_new(out, "seed_size", st_json_count(f->seed_bytes));
	json_object_set_new(out, "seed", st_json_count(f->seed + 1));
	json_object_set_new(
	        out, "difference",
	        difference_json(&f->difference, &c->corpus.list.v[f->seed].bytes, &f->witness));
	json_object_set_new(out, "counts_ratio",
	                    f->work ? st_json_real((double)f->work / (double)f->seed_work)
	                            : json_null());
	json_object_set_new(out, "slowdown", st_json_real(f->slowdown.at));
	json_object_set_new(out, "slowdown_interval",
	                    isfinite(f->slowdown.low)
	                            ? json_pack("[f,f]", f->slowdown.low, f->slowdown.high)
	                            : json_null());
	json_object_set_new(out, "seconds", st_json_real(f->endless ? NAN : f->witness_seconds));
	json_object_set_new(out, "seed_seconds", st_json_real(f->seed_seconds));
	json_object_set_new(out, "work", f->work ? st_json_count(f->work) : json_null());
	json_object_set_new(out, "seed_work", st_json_count(f->seed_work));
	json_object_set_new(out, "stack",
	                    f->kind == ST_FINDING_SLOW ? json_null() : stack_json(&f->stack));
	json_object_set_new(out, "signal",
	                    f->kind == ST_FINDING_FAULT ? json_integer(f->signal) : json_null());
	for (size_t i = 0; i < f->chain.n; i++)
		json_array_append_new(rules, st_json_text(st_rules_name(c->rules, f->chain.v[i])));
	json_object_set_new(out, "rules", rules);
	return out;
}

static json_t *
rules_json(const struct st_fuzz_campaign *c)
{
	json_t *out = json_array();
	for (size_t i = 0; i < c->hits.n; i++) {
		json_t *rule = json_object();
		json_object_set_new(rule, "rule", st_json_text(st_rules_name(c->rules, i)));
		json_object_set_new(rule, "executions", st_json_count(c->tried.v[i]));
		json_object_set_new(rule, "hits", st_json_count(c->hits.v[i]));
		json_array_append_new(out, rule);
	}
	return out;
}

/* The paths on which interesting inputs grew. */
static json_t *
grown_paths_json(const struct st_fuzz_campaign *c, struct st_fuzz_functions *functions)
{
	json_t *out = json_array();
	for (uint32_t i = 0; i < c->path_hits.n; i++) {
		json_t *path, *names;
		if (!c->path_hits.v[i])
			continue;
		path = json_object();
		names = json_array();
		for (uint32_t at = i; at != ST_HASHMAP_NONE; at = c->places.paths.v[at].parent)
			json_array_insert_new(names, 0,
			                      st_json_text(st_fuzz_function_name(
			                              functions, &c->places.paths.v[at].function)));
		json_object_set_new(path, "functions", names);
		json_object_set_new(path, "hits", st_json_count(c->path_hits.v[i]));
		json_array_append_new(out, path);
	}
	return out;
}

json_t *
st_fuzz_json(const struct st_fuzz_campaign *c, const struct st_findings *findings,
             struct st_fuzz_functions *functions, const char *folder, double seconds)
{
	json_t *root = json_object(), *list = json_array();
	json_object_set_new(root, "strobe",
	                    json_pack("{s:i,s:s}", "version", ST_JSON_VERSION, "tool", "fuzz"));
	json_object_set_new(root, "command", command_json(c->target));
	json_object_set_new(root, "executions", st_json_count(c->n_executions + c->n_elsewhere));
	json_object_set_new(root, "seconds", st_json_real(seconds));
	json_object_set_new(root, "interrupted", json_boolean(findings->interrupted));
	json_object_set_new(root, "coverage", json_string(c->target->paths ? "paths" : "sum"));
	json_object_set_new(root, "seeds", st_json_count(c->n_seeds));
	json_object_set_new(root, "interesting", st_json_count(c->n_interesting));
	json_object_set_new(root, "hangs", st_json_count(c->n_hangs));
	json_object_set_new(root, "faults", st_json_count(c->n_faults));
	json_object_set_new(root, "base_work", st_json_count(c->corpus.base));
	json_object_set_new(root, "most_work", st_json_count(c->most_work));
	json_object_set_new(root, "unsteady", st_json_real(c->unsteady));
	json_object_set_new(root, "not_superlinear", st_json_count(findings->linear));
	json_object_set_new(root, "cannot_tell", st_json_count(findings->unsure));
	json_object_set_new(root, "exhausted", json_boolean(c->exhausted));
	json_object_set_new(root, "not_executed", st_json_count(c->n_not_executed));
	json_object_set_new(root, "not_judged", st_json_count(findings->left));
	for (size_t i = 0; i < findings->list.n; i++)
		json_array_append_new(list,
		                      fuzz_finding_json(c, &findings->list.v[i], folder, i + 1));
	json_object_set_new(root, "findings", list);
	if (c->target->paths)
		json_object_set_new(root, "paths", grown_paths_json(c, functions));
	json_object_set_new(root, "rules", rules_json(c));
	json_object_set_new(root, "hang_seconds", st_json_real(c->target->hang_seconds));
	json_object_set_new(root, "series", campaign_series_json(&c->series));
	return root;
}
