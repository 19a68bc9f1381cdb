/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ebpf/usdt.h"

#include <string.h>

#include "base/text.h"
#include "ebpf/attach.h"
#include "session/region.h"
#include "symbol/symbol.h"
#include "trace/usdt.h"

struct choosing {
	struct st_ebpf_choice *c;
	uint32_t image;
	struct st_static_probes all;
};

/* The function that a probe, or a pair of them, is in the result. */
static uint32_t
declare(struct choosing *w, const struct st_static_probe *probe, const char *end)
{
	struct st_ebpf_choice *c = w->c;
	char *name = end ? st_text_of("%s:%s#%s", probe->provider, probe->name, end)
	                 : st_text_of("%s:%s", probe->provider, probe->name);
	char **kept = name ? ST_PUSH(&c->names) : NULL;
	if (!kept) {
		free(name);
		c->no_memory = true;
		return ST_TRACE_NOBODY;
	}
	*kept = name;
	/* One probe may stand at several places. */
	for (size_t i = 0; i < c->probes.n; i++)
		if (c->probes.v[i].role != ST_EBPF_FUNCTION && c->probes.v[i].image == w->image &&
		    !strcmp(c->probes.v[i].name, name))
			return c->probes.v[i].function;
	const struct st_trace_function about = {
	        .name = name,
	        .image = c->images.v[w->image].path,
	        .build_id = st_image_build_id(c->images.v[w->image].image),
	        .offset = probe->address};
	return st_trace_declare(c->to, &about);
}

static void
add_static(struct choosing *w, const struct st_static_probe *probe, uint32_t function,
           enum st_ebpf_role role)
{
	struct st_ebpf_choice *c = w->c;
	struct st_image *image = c->images.v[w->image].image;
	uint8_t code[16];
	const size_t n = st_image_bytes(image, probe->address, code, sizeof code);
	const uint64_t in_file = st_image_file_offset(image, probe->address);
	struct st_ebpf_probe *new = n &&in_file != UINT64_MAX ? ST_PUSH(&c->probes) : NULL;
	if (!new)
		return;
	*new = (struct st_ebpf_probe){
	        .image = w->image,
	        .function = function,
	        .offset = probe->address,
	        .in_file = in_file,
	        .semaphore = probe->semaphore ? st_image_file_offset(image, probe->semaphore) : 0,
	        .name = c->names.v[c->names.n - 1],
	        .is_stepped = st_ebpf_is_stepped(code, n),
	        .role = role};
}

/* The end that belongs to a begin; NULL: there is none. */
static const char *
end_of(const struct choosing *w, const struct st_static_probe *begin, const char *choice,
       enum st_usdt_role role)
{
	for (size_t i = 0; i < w->all.n; i++) {
		const struct st_static_probe *p = &w->all.v[i];
		if (strcmp(p->provider, begin->provider))
			continue;
		if (role == ST_USDT_BEGIN
		            ? st_usdt_chosen(choice, p->provider, p->name) == ST_USDT_END
		            : st_usdt_is_pair(begin->name, p->name))
			return p->name;
	}
	return NULL;
}

/* Is the probe the end of a pair whose begin is chosen, too? */
static bool
ends_a_pair(const struct choosing *w, const struct st_static_probe *end, const char *choice)
{
	for (size_t i = 0; i < w->all.n; i++)
		if (!strcmp(w->all.v[i].provider, end->provider) &&
		    st_usdt_chosen(choice, end->provider, w->all.v[i].name) == ST_USDT_ANY &&
		    st_usdt_is_pair(w->all.v[i].name, end->name))
			return true;
	return false;
}

static void
take_probe(struct choosing *w, const struct st_static_probe *probe, const char *choice)
{
	const enum st_usdt_role role = st_usdt_chosen(choice, probe->provider, probe->name);
	if (role == ST_USDT_OTHER || role == ST_USDT_END ||
	    (role == ST_USDT_ANY && ends_a_pair(w, probe, choice)))
		return;
	const char *end = end_of(w, probe, choice, role);
	const uint32_t function = declare(w, probe, end);
	if (function == ST_TRACE_NOBODY)
		return;
	add_static(w, probe, function, end ? ST_EBPF_BEGIN : ST_EBPF_SINGLE);
	for (size_t i = 0; end && i < w->all.n; i++)
		if (!strcmp(w->all.v[i].provider, probe->provider) &&
		    !strcmp(w->all.v[i].name, end))
			add_static(w, &w->all.v[i], function, ST_EBPF_END_OF_PAIR);
}

void
st_ebpf_choose_static(struct st_ebpf_choice *c, uint32_t image)
{
	struct choosing w = {.c = c, .image = image};
	struct st_patterns *chosen = c->request->usdt;
	if (st_image_static_probes(c->images.v[image].image, &w.all))
		c->no_memory = true;
	for (size_t i = 0; i < chosen->n; i++)
		for (size_t k = 0; k < w.all.n; k++) {
			const size_t before = c->probes.n;
			take_probe(&w, &w.all.v[k], chosen->text[i]);
			chosen->matched[i] += c->probes.n - before;
		}
	free(w.all.v);
}
