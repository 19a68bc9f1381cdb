/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ebpf/choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ebpf/attach.h"
#include "ebpf/usdt.h"
#include "session/session.h"
#include "symbol/symbol.h"
#include "symbol/unwind.h"
#include "tools/traced.h"
#include "trace/choose.h"
#include "trace/files.h"

/* A function that is chosen. */
struct candidate {
	uint64_t start;
	const char *name;
	bool is_scope, is_sure;
};

struct looking {
	struct st_ebpf_choice *c;
	struct st_image *image;
	ST_VEC(struct candidate) found; /* in the order of their starts */
	ST_VEC(struct st_part) parts;   /* by the functions that they are of */
};

static bool
is_main(const struct st_ebpf_choice *c, const struct st_symbol *s)
{
	const char *wanted = c->request->main;
	return *wanted && (!strcmp(s->plain, wanted) || !strcmp(s->raw_name, wanted) ||
	                   !strcmp(s->name, wanted));
}

/* n names of a function. */
static void
consider_function(struct looking *l, const char *path, const struct st_symbol *names, size_t n)
{
	const struct st_function *f = st_image_function(l->image, names->start);
	struct candidate found = {.start = names->start};
	for (size_t i = 0; i < n; i++) {
		found.is_scope |= is_main(l->c, &names[i]);
		found.is_sure |= !names[i].untyped;
	}
	if (!f || f->offset != names->start || f->source == ST_SYM_PLT ||
	    (!st_trace_chosen(l->c->chooser, l->image, path, f) && !found.is_scope))
		return;
	struct candidate *new = ST_PUSH(&l->found);
	if (!new) {
		l->c->no_memory = true;
		return;
	}
	found.name = f->name;
	*new = found;
}

static void
refuse_candidate(struct st_ebpf_choice *c, uint32_t image, const struct candidate *candidate,
                 const char *reason)
{
	struct st_trace_refused *refused = ST_PUSH(&c->refused);
	if (refused)
		*refused = (struct st_trace_refused){.name = candidate->name,
		                                     .image = c->images.v[image].path,
		                                     .offset = candidate->start,
		                                     .reason = reason};
	else
		c->no_memory = true;
}

/* Does the unwind information say that there is no return address where a call leaves it, at the
 * stack pointer? It is so of where the kernel starts a program, and of what the linker jumps to. */
static bool
has_no_caller(struct st_image *image, uint64_t entry)
{
	enum { WORDS = 64, MARK = 0x1000, BASE = 0x100000 };
	uint64_t words[WORDS], registers[ST_DWARF_REGISTERS] = {[ST_DWARF_RSP] = BASE};
	bool interrupted = false;
	for (size_t i = 0; i < WORDS; i++)
		words[i] = MARK + i;
	const struct st_stack_copy stack = {(const unsigned char *)words, BASE, sizeof words};
	const enum st_unwind step = st_image_unwind(image, entry, registers, &stack, &interrupted);
	if (step == ST_UNWIND_CALLER)
		return interrupted || registers[ST_DWARF_PC] != MARK;
	return step == ST_UNWIND_OUTERMOST;
}

/* Why a function cannot be probed; NULL: it can. */
static const char *
refusal_of(const struct looking *l, const struct candidate *candidate, const uint8_t *code,
           size_t n)
{
	const struct st_ebpf_choice *c = l->c;
	/* A function that is not called has no return address that the kernel could replace. */
	static const char not_called[] = "_start;_dl_start_user;_dl_runtime_resolve*;"
	                                 "_dl_runtime_profile*;__start_context";
	/* Functions that keep their return address, to return there again. */
	static const char keepers[] = "setjmp;_setjmp;__sigsetjmp;sigsetjmp;__setjmp;getcontext;"
	                              "swapcontext;setcontext;vfork;__vfork;_Unwind_*;"
	                              "__morestack*;mcount;_mcount;__fentry__";
	if (!n)
		return "its code is not in the file";
	if (traced_is_excluded(not_called, candidate->name) ||
	    has_no_caller(l->image, candidate->start))
		return "it is not called: there is no return that could be seen";
	if (!candidate->is_sure)
		return "its symbol does not say that it is a function: it may be data";
	if (!c->by_instructions && traced_is_excluded(keepers, candidate->name))
		return "it reads its return address, which the kernel's probe replaces";
	if (st_ebpf_is_refused(code, n))
		return "the kernel cannot probe its first instruction";
	return NULL;
}

static bool
is_chosen_entry(const struct looking *l, uint64_t start)
{
	size_t low = 0, high = l->found.n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (l->found.v[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->found.n && l->found.v[low].start == start;
}

static int
part_order(const void *a, const void *b)
{
	const struct st_part *x = a, *y = b;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

static const struct st_part *
parts_of(const struct looking *l, uint64_t entry, size_t *n)
{
	const struct st_part wanted = {.entry = entry}, *end = l->parts.v + l->parts.n;
	const struct st_part *first =
	        l->parts.n ? bsearch(&wanted, l->parts.v, l->parts.n, sizeof wanted, part_order)
	                   : NULL;
	for (*n = 0; first && first > l->parts.v && first[-1].entry == entry;)
		first--;
	while (first && first + *n < end && first[*n].entry == entry)
		++*n;
	return first;
}

/* The instructions that leave the function of the last probe. False: they are not known. */
static bool
add_exits(struct looking *l, struct st_ebpf_probe *probe)
{
	struct st_ebpf_choice *c = l->c;
	struct st_exits returns = {0};
	size_t n;
	const struct st_part *parts = parts_of(l, probe->offset, &n);
	const bool good = st_image_exits(l->image, probe->offset, parts, n, &returns);
	probe->jumps_to_itself = returns.jumps_to_itself;
	for (size_t i = 0; good && i < returns.exits.n; i++) {
		const struct st_exit *exit = &returns.exits.v[i];
		/* A function that jumps to a traced one returns with that one. */
		if (exit->target && is_chosen_entry(l, exit->target))
			continue;
		struct st_ebpf_exit *new = ST_PUSH(&c->exits);
		if (new)
			*new = (struct st_ebpf_exit){probe->image, (uint32_t)(probe - c->probes.v),
			                             st_image_file_offset(l->image, exit->at)};
		else
			c->no_memory = true;
	}
	free(returns.exits.v);
	return good;
}

static void
add_chosen_probe(struct looking *l, uint32_t image, const struct candidate *candidate)
{
	struct st_ebpf_choice *c = l->c;
	uint8_t code[16];
	const size_t n = st_image_bytes(l->image, candidate->start, code, sizeof code);
	const char *reason = refusal_of(l, candidate, code, n);
	struct st_ebpf_probe *probe = reason ? NULL : ST_PUSH(&c->probes);
	if (reason)
		return refuse_candidate(c, image, candidate, reason);
	if (!probe) {
		c->no_memory = true;
		return;
	}
	*probe = (struct st_ebpf_probe){.image = image,
	                                .offset = candidate->start,
	                                .in_file = st_image_file_offset(l->image, candidate->start),
	                                .name = candidate->name,
	                                .by_instructions = c->by_instructions,
	                                .is_stepped = st_ebpf_is_stepped(code, n)};
	if (c->by_instructions && !add_exits(l, probe)) {
		c->probes.n--;
		return refuse_candidate(c, image, candidate,
		                        "its return instructions are not known: there may be data "
		                        "in its code");
	}
	const struct st_trace_function about = {.name = candidate->name,
	                                        .image = c->images.v[image].path,
	                                        .build_id = st_image_build_id(l->image),
	                                        .offset = candidate->start};
	probe->function = st_trace_declare(c->to, &about);
	c->no_memory |= probe->function == ST_TRACE_NOBODY;
	if (candidate->is_scope && !c->limits.has_scope) {
		c->limits.has_scope = true;
		c->limits.scope = probe->function;
	}
}

static void
look_at_functions(struct looking *l, const char *path)
{
	size_t n;
	const struct st_symbol *symbols = st_image_symbols(l->image, &n);
	for (size_t first = 0, behind; symbols && first < n; first = behind) {
		for (behind = first + 1;
		     behind < n && symbols[behind].start == symbols[first].start;)
			behind++;
		if (symbols[first].entry == symbols[first].start) {
			consider_function(l, path, symbols + first, behind - first);
			continue;
		}
		struct st_part *part = ST_PUSH(&l->parts);
		if (part)
			*part = (struct st_part){symbols[first].entry, symbols[first].start};
		else
			l->c->no_memory = true;
	}
	if (l->parts.n)
		qsort(l->parts.v, l->parts.n, sizeof *l->parts.v, part_order);
}

static bool
is_looked_at(const struct st_ebpf_choice *c, const char *path)
{
	for (size_t i = 0; i < c->images.n; i++)
		if (!strcmp(c->images.v[i].path, path))
			return true;
	return false;
}

bool
st_ebpf_reads_returns(struct st_ebpf_choice *c, const char *path, bool is_program)
{
	static const char libraries[] = "libgcc_s.*;libunwind*;libstdc++*;libc++*;libgo.*;libjvm.*;"
	                                "libboost_context*;libboost_coroutine*";
	static const char users[] =
	        "_Unwind_*;swapcontext;setcontext;makecontext;runtime.morestack*;"
	        "caml_main;caml_startup*";
	if (traced_is_excluded(libraries, st_base_name(path)))
		return true;
	struct st_image *image =
	        is_program ? st_region_image(&c->request->session->region, path) : NULL;
	/* In a stripped program, setjmp and the unwinder cannot be recognized by name. */
	if (image && !strcmp(st_image_quality(image), "stripped") && !st_trace_is_dynamic(path))
		return true;
	size_t n = 0;
	const struct st_slot *slots = image ? st_image_slots(image, &n) : NULL;
	for (size_t i = 0; i < n; i++)
		if (slots[i].symbol && traced_is_excluded(users, slots[i].symbol))
			return true;
	const struct st_symbol *symbols = image ? st_image_symbols(image, &n) : NULL;
	for (size_t i = 0; symbols && i < n; i++)
		if (traced_is_excluded(users, symbols[i].raw_name))
			return true;
	return false;
}

void
st_ebpf_choose(struct st_ebpf_choice *c, const char *path)
{
	struct st_region *region = &c->request->session->region;
	struct looking l = {.c = c};
	struct st_ebpf_image *image = is_looked_at(c, path) ? NULL : ST_PUSH(&c->images);
	if (!image)
		return;
	const bool is_chosen = st_region_chooses_image(region, path);
	image->path = strdup(path);
	image->file = c->pid ? st_text_of("/proc/%d/root%s", c->pid, path) : strdup(path);
	if (!image->path || !image->file) {
		c->no_memory = true;
		return;
	}
	if (is_chosen || *c->request->main || c->request->usdt->n)
		image->image = st_region_image(region, path);
	l.image = image->image;
	if (l.image && !c->request->no_functions)
		look_at_functions(&l, path);
	if (l.image && c->request->usdt->n)
		st_ebpf_choose_static(c, (uint32_t)c->images.n - 1);
	c->by_instructions |= l.found.n && st_ebpf_reads_returns(c, path, false);
	for (size_t i = 0; i < l.found.n; i++)
		add_chosen_probe(&l, (uint32_t)c->images.n - 1, &l.found.v[i]);
	free(l.found.v);
	free(l.parts.v);
}

void
st_ebpf_choice_free(struct st_ebpf_choice *c)
{
	for (size_t i = 0; i < c->images.n; i++) {
		free(c->images.v[i].path);
		free(c->images.v[i].file);
	}
	free(c->images.v);
	free(c->probes.v);
	free(c->refused.v);
	for (size_t i = 0; i < c->names.n; i++)
		free(c->names.v[i]);
	free(c->names.v);
	free(c->exits.v);
}
