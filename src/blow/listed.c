/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/listed.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "blow/calls.h"
#include "blow/infer.h"
#include "blow/points.h"
#include "session/session.h"
#include "trace/choose.h"

/* Whether the user has asked for the function, as one to be tried or as a progress point. */
static bool
is_asked_for(const struct st_blow_listing *l, const struct st_probed_image *image,
             const struct st_function *f)
{
	return (!l->how->samples && st_trace_chosen(l->chooser, image->image, image->path, f)) ||
	       st_blow_points_function(l->how->points, f->name, f->raw_name) != ST_BLOW_NO_POINT;
}

static bool
infers_points(const struct st_blow_listing *l)
{
	return l->how->points && l->how->points->automatic;
}

/* Selections also time progress points and callers, which other options may leave out. */
bool
st_blow_is_listed(const struct st_blow_listing *l, const struct st_probed_image *image,
                  const struct st_function *f)
{
	if (!l->how->samples && st_trace_chosen(l->chooser, image->image, image->path, f))
		return true;
	if (f->whole != f->offset || f->source == ST_SYM_PLT || f->source == ST_SYM_PERFMAP)
		return false;
	return (l->callers && st_trace_chosen(l->callers, image->image, image->path, f)) ||
	       (infers_points(l) && st_blow_is_transfer(image->path, f->name)) ||
	       st_blow_locations_mention(l->how->called, f) || is_asked_for(l, image, f);
}

static const char *
raw_name_of(const struct st_probed_image *image, uint64_t offset, const char *name)
{
	const struct st_function *f = st_image_function(image->image, offset);
	return f && f->offset == offset ? f->raw_name : name;
}

/* Sums the function's calls and time over all threads. */
static void
sum_traced(const struct st_trace *t, struct st_blow_function *f)
{
	for (size_t i = 0; i < t->functions.n; i++) {
		const struct st_trace_function *traced = &t->functions.v[i];
		if (traced->offset != f->offset || strcmp(traced->image, f->image) != 0)
			continue;
		f->calls += traced->calls;
		f->ns += traced->outermost_ns;
	}
}

static st_status
list_write(struct st_blow_listing *l, const struct st_blow_function *f, FILE *out)
{
	st_blow_write_function(f, out);
	return l->how->contexts ? st_blow_written_add(&l->written, f) : ST_OK;
}

static st_status
list_selectable_one(struct st_blow_listing *l, const struct st_trace *t,
                    const struct st_probed_function *p, FILE *out)
{
	const struct st_probed_image *image = &l->probes->images.v[p->image];
	struct st_blow_function f = {.name = p->name,
	                             .raw_name = raw_name_of(image, p->offset, p->name),
	                             .image = image->path,
	                             .offset = p->offset,
	                             .why = p->refused};
	sum_traced(t, &f);
	if (l->calls)
		st_blow_calls_fill(l->calls, image->image, &f);
	const struct st_function *at = st_image_function(image->image, p->offset);
	if ((l->how->contexts || infers_points(l)) && at && !is_asked_for(l, image, at))
		f.traits |= ST_BLOW_IS_CALLER;
	return list_write(l, &f, out);
}

/* The name of the instruction, with its offset in the file if another one has the same name, such
 * as that of a second call on a line. */
static void
name_location(const struct st_blow_listing *l, const struct st_blow_found *found, char *name,
              size_t room)
{
	char other[512];
	bool same = false;
	st_blow_location_name(l->how->locations, l->probes, found, name, room);
	for (size_t i = 0; i < l->found.list.n && !same; i++) {
		const struct st_blow_found *f = &l->found.list.v[i];
		if (f->image != found->image || f->at == found->at ||
		    f->location != found->location)
			continue;
		st_blow_location_name(l->how->locations, l->probes, f, other, sizeof other);
		same = !strcmp(name, other);
	}
	const size_t n = strlen(name);
	if (same)
		snprintf(name + n, room - n, " (0x%llx)", (unsigned long long)found->at);
}

/* An instruction that a location means; several may mean the same. */
static st_status
list_location(struct st_blow_listing *l, const struct st_trace *t,
              const struct st_probed_function *p, FILE *out)
{
	for (size_t i = 0; i < l->found.list.n; i++) {
		const struct st_blow_found *found = &l->found.list.v[i];
		if (found->image != p->image || found->at != p->offset)
			continue;
		char name[512];
		name_location(l, found, name, sizeof name);
		struct st_blow_function f = {.name = name,
		                             .raw_name = found->location->text,
		                             .image = l->probes->images.v[p->image].path,
		                             .offset = p->offset,
		                             .traits = ST_BLOW_IS_INSIDE,
		                             .why = p->refused};
		sum_traced(t, &f);
		f.ns = 0;
		return list_write(l, &f, out);
	}
	return ST_OK;
}

/* Writes all functions that the request chooses; others may have probes for other reasons. */
static st_status
list_selectable(struct st_blow_listing *l, const struct st_trace *t, FILE *out)
{
	const struct st_probes *p = l->probes;
	st_status status = ST_OK;
	for (size_t i = 0; i < p->functions.n && !status; i++) {
		const struct st_probed_function *f = &p->functions.v[i];
		const struct st_probed_image *image = &p->images.v[f->image];
		const struct st_function *at = st_image_function(image->image, f->offset);
		if (f->is_point)
			status = list_location(l, t, f, out);
		else if (at && st_blow_is_listed(l, image, at))
			status = list_selectable_one(l, t, f, out);
	}
	for (size_t i = 0; i < p->refused.n && !status; i++)
		status = p->refused.v[i].is_point
		                 ? list_location(l, t, &p->refused.v[i], out)
		                 : list_selectable_one(l, t, &p->refused.v[i], out);
	return status;
}

/* Reads the code of all images. */
static st_status
list_read_code(struct st_blow_listing *l)
{
	const struct st_probes *p = l->probes;
	l->calls = st_blow_calls_new();
	st_status status = l->calls ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < p->images.n && !status; i++)
		if (p->images.v[i].image)
			status = st_blow_calls_add(l->calls, p->images.v[i].image);
	return status || st_blow_calls_connect(l->calls) ? ST_FAILED : ST_OK;
}

st_status
st_blow_listing_begin(struct st_blow_listing *l, const struct st_blow_how *how,
                      struct st_probes *probes)
{
	*l = (struct st_blow_listing){
	        .how = how, .probes = probes, .chooser = st_trace_chooser_new(how->request)};
	if (how->callers)
		l->callers = st_trace_chooser_new(how->callers);
	return l->chooser && (l->callers || !how->callers) ? ST_OK : ST_FAILED;
}

st_status
st_blow_list(struct st_blow_listing *l, const struct st_trace *t, FILE *out)
{
	if (l->how->reads_code && list_read_code(l))
		return ST_FAILED;
	st_status status = list_selectable(l, t, out);
	if (!status && l->how->contexts)
		status = st_blow_contexts_write(&l->written, t, out);
	return status;
}

void
st_blow_listing_end(struct st_blow_listing *l)
{
	st_blow_calls_free(l->calls);
	st_trace_chooser_free(l->chooser);
	st_trace_chooser_free(l->callers);
	free(l->found.list.v);
	st_blow_written_free(&l->written);
}

st_status
st_blow_check_names(const struct st_blow_how *how, struct st_error *e)
{
	const struct st_patterns *names = &how->request->session->region.functions;
	for (size_t i = how->first_name; how->names_exist && i < names->n; i++)
		if (!names->matched[i])
			return st_fail(e, ST_EXIT_USAGE,
			               "--corpus: the program has no function '%s': "
			               "--show-functions with --all lists its functions",
			               names->text[i]);
	return ST_OK;
}
