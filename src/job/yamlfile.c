/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/yamlfile.h"

#include <string.h>

#include "base/nearest.h"
#include "base/parse.h"

enum { MOST_DEPTH = 16 };

static st_status
yaml_vbad(const struct st_yaml *y, const yaml_mark_t *at, struct st_error *e, const char *format,
          va_list ap)
{
	char reason[640];
	vsnprintf(reason, sizeof reason, format, ap);
	return st_fail(e, ST_EXIT_USAGE, "%s:%zu:%zu: %s", y->path, at->line + 1, at->column + 1,
	               reason);
}

__attribute__((format(printf, 4, 5))) static st_status
yaml_bad_at(const struct st_yaml *y, const yaml_mark_t *at, struct st_error *e, const char *format,
            ...)
{
	va_list ap;
	va_start(ap, format);
	st_status status = yaml_vbad(y, at, e, format, ap);
	va_end(ap);
	return status;
}

st_status
st_yaml_bad(const struct st_yaml *y, const yaml_node_t *at, struct st_error *e, const char *format,
            ...)
{
	va_list ap;
	va_start(ap, format);
	st_status status = yaml_vbad(y, &at->start_mark, e, format, ap);
	va_end(ap);
	return status;
}

/* ---- reading ---- */

/* If the bytes are no text, libyaml knows an offset but no line. */
static yaml_mark_t
yaml_mark_of_offset(const char *bytes, size_t n, size_t offset)
{
	yaml_mark_t mark = {0};
	for (size_t i = 0; i < offset && i < n; i++) {
		mark.column++;
		if (bytes[i] == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return mark;
}

static st_status
yaml_refuse(const struct st_yaml *y, const yaml_parser_t *p, const char *bytes, size_t n,
            struct st_error *e)
{
	yaml_mark_t at = p->problem_mark;
	if (p->error == YAML_MEMORY_ERROR)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", y->path);
	if (p->error == YAML_READER_ERROR)
		at = yaml_mark_of_offset(bytes, n, p->problem_offset);
	return yaml_bad_at(y, &at, e, "%s%s%s", p->problem ? p->problem : "it is no YAML",
	                   p->context ? " " : "", p->context ? p->context : "");
}

/* Readers of nodes go as deep as the document, and an anchor can be inside of itself. */
static st_status
yaml_check_depth(struct st_yaml *y, yaml_node_t *node, int depth, struct st_error *e)
{
	if (depth > MOST_DEPTH)
		return st_yaml_bad(y, node, e, "it is nested more than %d levels deep", MOST_DEPTH);
	if (node->type == YAML_SEQUENCE_NODE)
		for (const yaml_node_item_t *i = node->data.sequence.items.start;
		     i < node->data.sequence.items.top; i++)
			if (yaml_check_depth(y, yaml_document_get_node(&y->document, *i), depth + 1,
			                     e))
				return ST_FAILED;
	if (node->type == YAML_MAPPING_NODE)
		for (const yaml_node_pair_t *i = node->data.mapping.pairs.start;
		     i < node->data.mapping.pairs.top; i++)
			if (yaml_check_depth(y, yaml_document_get_node(&y->document, i->value),
			                     depth + 1, e))
				return ST_FAILED;
	return ST_OK;
}

/* An alias can make a small file a large tree: it is refused, and nobody needs it here. */
static st_status
yaml_refuse_aliases(const struct st_yaml *y, const char *bytes, size_t n, struct st_error *e)
{
	yaml_parser_t p;
	yaml_event_t event;
	st_status status = ST_OK;
	bool end = false;
	if (!yaml_parser_initialize(&p))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", y->path);
	yaml_parser_set_input_string(&p, (const unsigned char *)bytes, n);
	while (!status && !end) {
		if (!yaml_parser_parse(&p, &event))
			break; /* the loader says what is wrong */
		if (event.type == YAML_ALIAS_EVENT)
			status = yaml_bad_at(y, &event.start_mark, e,
			                     "aliases are not supported: write the value again");
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&p);
	return status;
}

static st_status
yaml_load(struct st_yaml *y, yaml_parser_t *p, const char *bytes, size_t n, struct st_error *e)
{
	yaml_document_t next;
	if (!yaml_parser_load(p, &y->document))
		return yaml_refuse(y, p, bytes, n, e);
	y->loaded = true;
	yaml_node_t *root = yaml_document_get_root_node(&y->document);
	if (!root)
		return st_fail(e, ST_EXIT_USAGE, "%s is empty: strobe job init writes an example",
		               y->path);
	if (!yaml_parser_load(p, &next))
		return yaml_refuse(y, p, bytes, n, e);
	yaml_node_t *second = yaml_document_get_root_node(&next);
	st_status status = second ? st_yaml_bad(y, second, e, "there is a second document") : ST_OK;
	yaml_document_delete(&next);
	return status ? status : yaml_check_depth(y, root, 0, e);
}

st_status
st_yaml_read(struct st_yaml *y, const char *path, const char *bytes, size_t n, struct st_error *e)
{
	yaml_parser_t p;
	*y = (struct st_yaml){.path = path};
	if (yaml_refuse_aliases(y, bytes, n, e))
		return ST_FAILED;
	if (!yaml_parser_initialize(&p))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", path);
	yaml_parser_set_input_string(&p, (const unsigned char *)bytes, n);
	st_status status = yaml_load(y, &p, bytes, n, e);
	yaml_parser_delete(&p);
	return status;
}

void
st_yaml_free(struct st_yaml *y)
{
	if (y->loaded)
		yaml_document_delete(&y->document);
	y->loaded = false;
}

yaml_node_t *
st_yaml_root(struct st_yaml *y)
{
	return yaml_document_get_root_node(&y->document);
}

/* ---- values ---- */

/* YAML's ways to write that there is no value. */
static bool
yaml_is_nothing(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE &&
	       node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!node->data.scalar.length || !strcmp((const char *)node->data.scalar.value, "~") ||
	        !strcmp((const char *)node->data.scalar.value, "null"));
}

st_status
st_yaml_text(const struct st_yaml *y, const yaml_node_t *node, const char *what, const char **text,
             struct st_error *e)
{
	if (node->type != YAML_SCALAR_NODE)
		return st_yaml_bad(y, node, e, "%s is a single value, not a %s", what,
		                   node->type == YAML_SEQUENCE_NODE ? "list" : "mapping");
	*text = (const char *)node->data.scalar.value;
	if (strlen(*text) != node->data.scalar.length)
		return st_yaml_bad(y, node, e, "%s cannot hold a NUL character", what);
	return ST_OK;
}

st_status
st_yaml_number(const struct st_yaml *y, const yaml_node_t *node, const char *what, long low,
               long high, long *number, struct st_error *e)
{
	const char *text;
	if (st_yaml_text(y, node, what, &text, e))
		return ST_FAILED;
	if (st_parse_between(text, low, high, number))
		return st_yaml_bad(y, node, e, "%s is a whole number from %ld to %ld, not '%s'",
		                   what, low, high, text);
	return ST_OK;
}

st_status
st_yaml_flag(const struct st_yaml *y, const yaml_node_t *node, const char *what, bool *flag,
             struct st_error *e)
{
	const char *text;
	if (st_yaml_text(y, node, what, &text, e))
		return ST_FAILED;
	*flag = !strcmp(text, "true");
	if (*flag || !strcmp(text, "false"))
		return ST_OK;
	return st_yaml_bad(y, node, e, "%s is true or false, not '%s'", what, text);
}

size_t
st_yaml_count(const yaml_node_t *list)
{
	if (!list || yaml_is_nothing(list))
		return 0;
	if (list->type != YAML_SEQUENCE_NODE)
		return 1;
	return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

yaml_node_t *
st_yaml_item(struct st_yaml *y, yaml_node_t *list, size_t i)
{
	if (list->type != YAML_SEQUENCE_NODE)
		return list;
	return yaml_document_get_node(&y->document, list->data.sequence.items.start[i]);
}

/* ---- mappings ---- */

static const char *
yaml_key_at(const void *keys, size_t i)
{
	return ((const char *const *)keys)[i];
}

static st_status
yaml_unknown_key(const struct st_yaml *y, const yaml_node_t *at, const char *what, const char *key,
                 const char *const *keys, size_t n, struct st_error *e)
{
	const char *near = st_nearest(key, n, yaml_key_at, keys);
	if (near)
		return st_yaml_bad(y, at, e, "unknown key '%s' of %s; did you mean '%s'?", key,
		                   what, near);
	char all[256] = "";
	for (size_t i = 0, at_end = 0; i < n && at_end < sizeof all; i++)
		at_end += (size_t)snprintf(all + at_end, sizeof all - at_end, "%s%s", i ? ", " : "",
		                           keys[i]);
	return st_yaml_bad(y, at, e, "unknown key '%s' of %s; it has: %s", key, what, all);
}

static st_status
yaml_take_field(struct st_yaml *y, const yaml_node_pair_t *pair, const char *what,
                const char *const *keys, size_t n, yaml_node_t **values, struct st_error *e)
{
	const yaml_node_t *key = yaml_document_get_node(&y->document, pair->key);
	const char *text;
	if (st_yaml_text(y, key, "a key", &text, e))
		return ST_FAILED;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(keys[i], text) != 0)
			continue;
		if (values[i])
			return st_yaml_bad(y, key, e, "%s has '%s' twice", what, text);
		values[i] = yaml_document_get_node(&y->document, pair->value);
		return ST_OK;
	}
	return yaml_unknown_key(y, key, what, text, keys, n, e);
}

st_status
st_yaml_fields(struct st_yaml *y, const yaml_node_t *map, const char *what, const char *const *keys,
               size_t n, yaml_node_t **values, struct st_error *e)
{
	memset(values, 0, n * sizeof *values);
	if (map->type != YAML_MAPPING_NODE)
		return yaml_is_nothing(map)
		               ? ST_OK
		               : st_yaml_bad(y, map, e, "%s is a mapping of keys to values", what);
	for (const yaml_node_pair_t *i = map->data.mapping.pairs.start;
	     i < map->data.mapping.pairs.top; i++)
		if (yaml_take_field(y, i, what, keys, n, values, e))
			return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		if (values[i] && yaml_is_nothing(values[i]))
			values[i] = NULL;
	return ST_OK;
}

st_status
st_yaml_pair(struct st_yaml *y, const yaml_node_t *map, const char *what, yaml_node_t **key,
             yaml_node_t **value, struct st_error *e)
{
	if (map->type != YAML_MAPPING_NODE ||
	    map->data.mapping.pairs.top - map->data.mapping.pairs.start != 1)
		return st_yaml_bad(y, map, e, "%s is a name, or one name with its settings", what);
	*key = yaml_document_get_node(&y->document, map->data.mapping.pairs.start->key);
	*value = yaml_document_get_node(&y->document, map->data.mapping.pairs.start->value);
	return ST_OK;
}
