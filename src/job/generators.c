/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generators in the file of a job. */
#include "job/generators.h"

#include <limits.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "base/parse.h"

enum { MOST_LINES = 100000000, MOST_ROW = 1000000, MOST_STRING = 100000, MOST_STEPS = 1000000 };

static const char *const generator_names[] = {
#define G(id, name) [ST_GENERATOR_##id] = name,
        ST_GENERATORS(G)
#undef G
};
enum { N_GENERATORS = sizeof generator_names / sizeof *generator_names };

/* Settings of the generators, and which generator has which. */
#define GENERATOR_KEYS(K)                                                                          \
	K(name, "name", ~0u)                                                                       \
	K(stdin, "stdin",                                                                          \
	  1u << ST_GENERATOR_TEXTFILE | 1u << ST_GENERATOR_EXTERNAL |                              \
	          1u << ST_GENERATOR_SINGLETON)                                                    \
	K(min, "min",                                                                              \
	  1u << ST_GENERATOR_INTEGER | 1u << ST_GENERATOR_STRING | 1u << ST_GENERATOR_TEXTFILE)    \
	K(max, "max",                                                                              \
	  1u << ST_GENERATOR_INTEGER | 1u << ST_GENERATOR_STRING | 1u << ST_GENERATOR_TEXTFILE)    \
	K(step, "step",                                                                            \
	  1u << ST_GENERATOR_INTEGER | 1u << ST_GENERATOR_STRING | 1u << ST_GENERATOR_TEXTFILE)    \
	K(min_row, "min-row", 1u << ST_GENERATOR_TEXTFILE)                                         \
	K(max_row, "max-row", 1u << ST_GENERATOR_TEXTFILE)                                         \
	K(randomize_rows, "randomize-rows", 1u << ST_GENERATOR_TEXTFILE)                           \
	K(value, "value", 1u << ST_GENERATOR_SINGLETON)                                            \
	K(size, "size", 1u << ST_GENERATOR_SINGLETON)                                              \
	K(program, "program", 1u << ST_GENERATOR_EXTERNAL)                                         \
	K(format, "format", 1u << ST_GENERATOR_EXTERNAL)

enum {
#define K(id, name, kinds) GENERATOR_##id,
	GENERATOR_KEYS(K)
#undef K
	        N_KEYS
};

static const struct {
	const char *name;
	unsigned kinds;
} generator_keys[] = {
#define K(id, name, kinds) [GENERATOR_##id] = {name, kinds},
        GENERATOR_KEYS(K)
#undef K
};

/* Only the keys that this kind has: v has all of them, the others NULL. */
static st_status
generator_fields(const struct st_generator *g, struct st_yaml *y, yaml_node_t *settings,
                 yaml_node_t **v, struct st_error *e)
{
	const char *names[N_KEYS];
	yaml_node_t *found[N_KEYS];
	size_t which[N_KEYS], n = 0;
	memset(v, 0, N_KEYS * sizeof *v);
	for (size_t i = 0; i < N_KEYS; i++)
		if (generator_keys[i].kinds & 1u << g->kind) {
			names[n] = generator_keys[i].name;
			which[n++] = i;
		}
	if (st_yaml_fields(y, settings, generator_names[g->kind], names, n, found, e))
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		v[which[i]] = found[i];
	return ST_OK;
}

static st_status
generator_need(const struct st_yaml *y, const struct st_generator *g, const yaml_node_t *node,
               const char *key, struct st_error *e)
{
	return node ? ST_OK
	            : st_yaml_bad(y, g->at, e, "the generator %s needs '%s'",
	                          generator_names[g->kind], key);
}

static st_status
generator_take_steps(struct st_generator *g, const struct st_yaml *y, yaml_node_t *const *v,
                     struct st_error *e)
{
	long low = 1, high = MOST_LINES;
	if (g->kind == ST_GENERATOR_INTEGER) {
		low = LONG_MIN / 4;
		high = LONG_MAX / 4;
	} else if (g->kind == ST_GENERATOR_STRING) {
		high = MOST_STRING;
	}
	g->step = 1;
	if (generator_need(y, g, v[GENERATOR_min], "min", e) ||
	    generator_need(y, g, v[GENERATOR_max], "max", e) ||
	    st_yaml_number(y, v[GENERATOR_min], "min", low, high, &g->least, e) ||
	    st_yaml_number(y, v[GENERATOR_max], "max", low, high, &g->most, e))
		return ST_FAILED;
	if (v[GENERATOR_step] &&
	    st_yaml_number(y, v[GENERATOR_step], "step", 1, LONG_MAX / 4, &g->step, e))
		return ST_FAILED;
	if (g->most < g->least)
		return st_yaml_bad(y, v[GENERATOR_max], e, "max, %ld, is less than min, %ld",
		                   g->most, g->least);
	if ((g->most - g->least) / g->step >= MOST_STEPS)
		return st_yaml_bad(y, g->at, e,
		                   "these are more than %s workloads: use a greater step",
		                   ST_NUMBER(MOST_STEPS));
	return ST_OK;
}

static st_status
generator_take_rows(struct st_generator *g, const struct st_yaml *y, yaml_node_t *const *v,
                    struct st_error *e)
{
	g->row_least = 5;
	g->row_most = 80;
	g->random_rows = true;
	if (v[GENERATOR_min_row] &&
	    st_yaml_number(y, v[GENERATOR_min_row], "min-row", 0, MOST_ROW, &g->row_least, e))
		return ST_FAILED;
	if (v[GENERATOR_max_row] &&
	    st_yaml_number(y, v[GENERATOR_max_row], "max-row", 0, MOST_ROW, &g->row_most, e))
		return ST_FAILED;
	if (g->row_most < g->row_least)
		return st_yaml_bad(y, g->at, e, "max-row, %ld, is less than min-row, %ld",
		                   g->row_most, g->row_least);
	return v[GENERATOR_randomize_rows] ? st_yaml_flag(y, v[GENERATOR_randomize_rows],
	                                                  "randomize-rows", &g->random_rows, e)
	                                   : ST_OK;
}

static st_status
generator_take_singleton(struct st_generator *g, const struct st_yaml *y, yaml_node_t *const *v,
                         struct st_error *e)
{
	double size;
	const char *end;
	if (generator_need(y, g, v[GENERATOR_value], "value", e) ||
	    st_yaml_text(y, v[GENERATOR_value], "value", &g->value, e))
		return ST_FAILED;
	if (!v[GENERATOR_size])
		return ST_OK;
	if (st_yaml_text(y, v[GENERATOR_size], "size", &g->size, e))
		return ST_FAILED;
	return st_parse_real(g->size, &size, &end) || *end
	               ? st_yaml_bad(y, v[GENERATOR_size], e, "size is a number, not '%s'", g->size)
	               : ST_OK;
}

static st_status
generator_take_external(struct st_generator *g, const struct st_yaml *y, yaml_node_t *const *v,
                        struct st_error *e)
{
	g->format = "{name}";
	if (generator_need(y, g, v[GENERATOR_program], "program", e) ||
	    st_yaml_text(y, v[GENERATOR_program], "program", &g->program, e))
		return ST_FAILED;
	return v[GENERATOR_format] ? st_yaml_text(y, v[GENERATOR_format], "format", &g->format, e)
	                           : ST_OK;
}

static st_status
generator_take_kind(struct st_generator *g, const struct st_yaml *y, const yaml_node_t *key,
                    struct st_error *e)
{
	const char *name;
	struct st_nearest near;
	if (st_yaml_text(y, key, "the name of a generator", &name, e))
		return ST_FAILED;
	near = st_nearest_to(name);
	for (size_t i = 0; i < N_GENERATORS; i++) {
		g->kind = (enum st_generator_kind)i;
		if (!strcmp(generator_names[i], name))
			return ST_OK;
		st_nearest_try(&near, generator_names[i], strlen(generator_names[i]));
	}
	if (near.best)
		return st_yaml_bad(y, key, e, "unknown generator '%s'; did you mean '%s'?", name,
		                   near.best);
	return st_yaml_bad(y, key, e,
	                   "unknown generator '%s'; there are integer, string, textfile, "
	                   "singleton and external",
	                   name);
}

/* A name becomes a part of file names. */
static st_status
generator_take_name(struct st_generator *g, const struct st_yaml *y, const yaml_node_t *node,
                    struct st_error *e)
{
	g->name = generator_names[g->kind];
	if (!node)
		return ST_OK;
	if (st_yaml_text(y, node, "name", &g->name, e))
		return ST_FAILED;
	return !*g->name || *g->name == '.' || strpbrk(g->name, "/\n\r")
	               ? st_yaml_bad(y, node, e,
	                             "a name is not empty, does not begin with a dot and has "
	                             "neither slashes nor line breaks")
	               : ST_OK;
}

static st_status
generator_take(struct st_generator *g, struct st_yaml *y, yaml_node_t *settings, struct st_error *e)
{
	yaml_node_t *v[N_KEYS];
	if (g->kind == ST_GENERATOR_SINGLETON && settings->type == YAML_SCALAR_NODE) {
		g->name = generator_names[g->kind];
		return st_yaml_text(y, settings, "a workload", &g->value, e);
	}
	if (generator_fields(g, y, settings, v, e) ||
	    generator_take_name(g, y, v[GENERATOR_name], e) ||
	    (v[GENERATOR_stdin] && st_yaml_flag(y, v[GENERATOR_stdin], "stdin", &g->to_stdin, e)))
		return ST_FAILED;
	if (g->kind == ST_GENERATOR_SINGLETON)
		return generator_take_singleton(g, y, v, e);
	if (g->kind == ST_GENERATOR_EXTERNAL)
		return generator_take_external(g, y, v, e);
	if (generator_take_steps(g, y, v, e))
		return ST_FAILED;
	return g->kind == ST_GENERATOR_TEXTFILE ? generator_take_rows(g, y, v, e) : ST_OK;
}

st_status
st_generator_read(struct st_generator *g, struct st_yaml *y, yaml_node_t *item, struct st_error *e)
{
	yaml_node_t *key = item, *settings = item;
	*g = (struct st_generator){.kind = ST_GENERATOR_SINGLETON, .at = item};
	if (item->type != YAML_SCALAR_NODE &&
	    (st_yaml_pair(y, item, "a workload", &key, &settings, e) ||
	     generator_take_kind(g, y, key, e)))
		return ST_FAILED;
	return generator_take(g, y, settings, e);
}
