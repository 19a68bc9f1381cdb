/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/locations.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "blow/contexts.h"
#include "trace/choose.h"

/* ---- the user's words ---- */

static st_status
locations_take_call(struct st_blow_location *l, const char *text)
{
	const char *from = text + strlen(ST_BLOW_CALL_PREFIX), *between = strchr(from, '>');
	if (!between || between == from || !between[1])
		return ST_FAILED;
	l->caller = strndup(from, (size_t)(between - from));
	l->callee = strdup(between + 1);
	return l->caller && l->callee ? ST_OK : ST_FAILED;
}

static st_status
locations_take_block(struct st_blow_location *l, const char *text)
{
	const char *from = text + strlen(ST_BLOW_BLOCK_PREFIX), *plus = strrchr(from, '+');
	char *end = NULL;
	l->offset = UINT64_MAX;
	/* The name of an operator may have a plus, too. */
	const bool has_offset = plus && plus[1] >= '0' && plus[1] <= '9';
	if (has_offset) {
		errno = 0;
		l->offset = strtoull(plus + 1, &end, 0);
	}
	if (!*from || plus == from || (has_offset && (*end || errno)))
		return ST_FAILED;
	l->caller = strndup(from, has_offset ? (size_t)(plus - from) : strlen(from));
	return l->caller ? ST_OK : ST_FAILED;
}

static st_status
locations_take_line(struct st_blow_location *l, const char *text)
{
	char pattern[sizeof l->file.file + 2], *end;
	const char *colon = strrchr(text, ':');
	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9' ||
	    (size_t)(colon - text) >= sizeof l->file.file)
		return ST_FAILED;
	const unsigned long line = strtoul(colon + 1, &end, 10);
	snprintf(pattern, sizeof pattern, "@%.*s", (int)(colon - text), text);
	l->line = (uint32_t)line;
	return !*end && line > 0 && line < INT_MAX && st_file_pattern(pattern, &l->file)
	               ? ST_OK
	               : ST_FAILED;
}

st_status
st_blow_locations_add(struct st_blow_locations *l, const char *text, struct st_error *e)
{
	struct st_blow_location *new = ST_PUSH(&l->list);
	if (!new)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	*new = (struct st_blow_location){.text = text};
	const bool is_call = !strncmp(text, ST_BLOW_CALL_PREFIX, strlen(ST_BLOW_CALL_PREFIX)),
	           is_block = !strncmp(text, ST_BLOW_BLOCK_PREFIX, strlen(ST_BLOW_BLOCK_PREFIX));
	return (is_call    ? locations_take_call(new, text)
	        : is_block ? locations_take_block(new, text)
	                   : locations_take_line(new, text))
	               ? st_fail(e, ST_EXIT_USAGE,
	                         "--at takes FILE:LINE, call:CALLER>CALLEE, block:FUNCTION or "
	                         "block:FUNCTION+OFFSET, not '%s'",
	                         text)
	               : ST_OK;
}

st_status
st_blow_locations_check(const struct st_blow_locations *l, struct st_error *e)
{
	for (size_t i = 0; l->after && i < l->list.n; i++)
		if (!st_blow_location_is_call(&l->list.v[i]))
			return st_fail(e, ST_EXIT_USAGE,
			               "--where after is for functions and calls, and --at %s is a "
			               "%s, which gets its noise before it: leave out one of them",
			               l->list.v[i].text,
			               st_blow_location_is_block(&l->list.v[i]) ? "block" : "line");
	return ST_OK;
}

void
st_blow_locations_free(struct st_blow_locations *l)
{
	for (size_t i = 0; i < l->list.n; i++) {
		free(l->list.v[i].caller);
		free(l->list.v[i].callee);
	}
	free(l->list.v);
}

/* ---- instructions ---- */

static st_status
locations_push(struct st_blow_found_list *to, const struct st_probed_image *image, uint64_t at,
               uint64_t call, const struct st_blow_location *location)
{
	struct st_blow_found *new = ST_PUSH(&to->list);
	if (new)
		*new = (struct st_blow_found){.image = (uint32_t)(image - image->probes->images.v),
		                              .at = at,
		                              .call = call,
		                              .around = st_blow_function_around(image->image, at),
		                              .location = location};
	return new ? ST_OK : ST_FAILED;
}

/* Does the call lead to a function of the name, perhaps by way of the linker's (PLT)? Of calls of
 * pointers only the pattern * means all. */
static bool
leads_to_callee(const struct st_probed_image *image, const struct st_probe_point *p,
                const char *callee)
{
	if (!strcmp(callee, "*"))
		return true;
	const struct st_function *target =
	        p->target ? st_image_function(image->image, p->target) : NULL;
	if (!target || target->offset != p->target)
		return false;
	char name[256];
	const size_t n = strcspn(target->name, "@");
	snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : (int)sizeof name - 1,
	         target->name);
	const struct st_function plain = {.name = name};
	return st_trace_fits_name(target, callee) ||
	       (target->source == ST_SYM_PLT && st_trace_fits_name(&plain, callee));
}

static st_status
locations_find_calls(const struct st_blow_location *l, const struct st_probed_image *image,
                     const struct st_function *f, bool after, struct st_blow_found_list *to)
{
	struct st_probe_point_list points = {0};
	st_status status = ST_OK;
	if (f->source == ST_SYM_PLT || !st_trace_fits_name(f, l->caller))
		return ST_OK;
	if (st_probe_list_points(image->planner, f, &points) == ST_REFUSAL_MEMORY)
		status = ST_FAILED;
	for (size_t i = 0; i < points.list.n && !status; i++) {
		const struct st_probe_point *p = &points.list.v[i];
		if (p->kind == (after ? ST_POINT_AFTER : ST_POINT_BEFORE) &&
		    leads_to_callee(image, p, l->callee))
			status = locations_push(to, image, p->at, p->call, l);
	}
	free(points.list.v);
	return status;
}

static st_status
locations_find_blocks(const struct st_blow_location *l, const struct st_probed_image *image,
                      const struct st_function *f, struct st_blow_found_list *to)
{
	struct st_probe_point_list points = {0};
	st_status status = ST_OK;
	if (f->source == ST_SYM_PLT || !st_trace_fits_name(f, l->caller))
		return ST_OK;
	if (st_probe_list_points(image->planner, f, &points) == ST_REFUSAL_MEMORY)
		status = ST_FAILED;
	for (size_t i = 0; i < points.list.n && !status; i++) {
		const struct st_probe_point *p = &points.list.v[i];
		const bool asked = l->offset == UINT64_MAX || p->at == f->offset + l->offset;
		if (asked && p->kind == ST_POINT_BLOCK)
			status = locations_push(to, image, p->at, 0, l);
	}
	free(points.list.v);
	return status;
}

/* The first instruction of the line in the function. Where the table of lines has a row, an
 * instruction begins. */
static st_status
locations_find_line(const struct st_blow_location *l, const struct st_probed_image *image,
                    const struct st_function *f, struct st_blow_found_list *to)
{
	struct st_line line;
	for (uint64_t at = f->offset; at < f->offset + f->size; at++)
		if (!st_image_line(image->image, at, &line) && line.line == l->line && line.file &&
		    st_file_fits(&l->file, line.file))
			return locations_push(to, image, at, 0, l);
	return ST_OK;
}

st_status
st_blow_locations_find(const struct st_blow_locations *l, const struct st_probed_image *image,
                       struct st_blow_found_list *to)
{
	size_t n;
	st_status status = ST_OK;
	if (!l || !l->list.n)
		return ST_OK;
	const bool has_lines = !strcmp(st_image_quality(image->image), "full");
	const struct st_function *f = st_image_functions(image->image, &n);
	for (size_t i = 0; i < l->list.n; i++)
		for (size_t k = 0; k < n && !status; k++) {
			const struct st_blow_location *one = &l->list.v[i];
			if (st_blow_location_is_block(one))
				status = locations_find_blocks(one, image, &f[k], to);
			else if (one->caller)
				status = locations_find_calls(one, image, &f[k], l->after, to);
			else if (has_lines)
				status = locations_find_line(one, image, &f[k], to);
		}
	return status;
}

st_status
st_blow_want_location(struct st_wanted_points *to, uint64_t at)
{
	struct st_wanted_point *new = ST_PUSH(&to->list);
	if (new)
		*new = (struct st_wanted_point){at, {ST_PROBE_POINT, 0}};
	return new ? ST_OK : ST_FAILED;
}

void
st_blow_location_name(const struct st_blow_locations *l, const struct st_probes *probes,
                      const struct st_blow_found *found, char *name, size_t room)
{
	struct st_image *image = probes->images.v[found->image].image;
	const struct st_function *f = st_image_function(image, found->at);
	const struct st_blow_location *location = found->location;
	struct st_line line;
	if (st_blow_location_is_block(location) && f) {
		const int n = snprintf(name, room, "block %s+0x%llx", f->name,
		                       (unsigned long long)(found->at - f->offset));
		if (n > 0 && (size_t)n < room && !st_image_line(image, found->at, &line) &&
		    line.file && line.line)
			snprintf(name + n, room - (size_t)n, " at %s:%u", st_base_name(line.file),
			         line.line);
	} else if (!location->caller)
		snprintf(name, room, "%s in %s", location->text, f ? f->name : "?");
	else if (!st_image_line(image, found->call, &line) && line.file && line.line)
		snprintf(name, room, "%s%s at %s:%u", l->after ? "after " : "", location->text,
		         st_base_name(line.file), line.line);
	else
		snprintf(name, room, "%s%s at 0x%llx", l->after ? "after " : "", location->text,
		         (unsigned long long)found->call);
}

uint64_t
st_blow_function_around(struct st_image *image, uint64_t at)
{
	const struct st_function *f = st_image_function(image, at);
	return f ? f->whole : 0;
}
