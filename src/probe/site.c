/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/site.h"

#include <stdlib.h>
#include <string.h>

#include "probe/move.h"
#include "probe/planner.h"

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* musl's linker is its C library, and has that name, too. */
static uint8_t
refusal_of_image(struct st_image *image)
{
	const char *path = st_image_path(image), *name = base_name(path);
	if (!strcmp(path, "[vdso]") || !strncmp(name, "linux-vdso", 10))
		return ST_REFUSAL_VDSO;
	if (!strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) || !strcmp(name, "ld.so"))
		return ST_REFUSAL_LINKER;
	return ST_REFUSAL_NONE;
}

struct st_probe_planner *
st_probe_planner_new(struct st_image *image)
{
	struct st_probe_planner *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->image = image;
	p->refusal = refusal_of_image(image);
	p->role = st_probe_image_role(image, &p->forbids);
	p->n_ranges = st_image_code_ranges(image, &p->ranges, &p->has_frames);
	/* Go's functions have tables of their own, and only what comes from C has frames. */
	if (st_probe_is_go(image))
		p->has_frames = false;
	p->n_resolvers = st_image_resolvers(image, &p->resolvers);
	p->n_labels = st_image_labels(image, &p->labels);
	p->leads = p->n_ranges ? probe_leads_new(image, p->ranges, p->n_ranges) : NULL;
	if (p->leads)
		return p;
	st_probe_planner_free(p);
	return NULL;
}

void
st_probe_planner_free(struct st_probe_planner *p)
{
	if (!p)
		return;
	probe_leads_free(p->leads);
	free(p->ranges);
	free(p->resolvers);
	free(p->labels);
	free(p->parts);
	probe_inside_free(&p->inside);
	free(p);
}

void
st_probe_planner_admit(struct st_probe_planner *p)
{
	p->refusal = p->refusal == ST_REFUSAL_VDSO ? ST_REFUSAL_NONE : p->refusal;
}

bool
st_probe_planner_forbids(const struct st_probe_planner *p)
{
	return p->forbids;
}

static int
order_range(const void *key, const void *element)
{
	uint64_t at = *(const uint64_t *)key;
	const struct st_code_range *r = element;
	return at < r->start ? -1 : at > r->start;
}

static int
order_address(const void *key, const void *element)
{
	uint64_t a = *(const uint64_t *)key, b = *(const uint64_t *)element;
	return a < b ? -1 : a > b;
}

static bool
has_address(const uint64_t *v, size_t n, uint64_t at)
{
	return n && bsearch(&at, v, n, sizeof at, order_address);
}

/* Assembly code often has no unwind information; then a symbol is believed that is said to be a
 * function's. Other labels in code may be of data. */
bool
probe_is_entry(const struct st_probe_planner *p, const struct st_function *f)
{
	const struct st_code_range *r =
	        bsearch(&f->offset, p->ranges, p->n_ranges, sizeof *r, order_range);
	const bool is_symbol = (f->source == ST_SYM_SYMTAB || f->source == ST_SYM_DYNSYM) &&
	                       !has_address(p->labels, p->n_labels, f->offset);
	return !p->has_frames ||
	       (r && (r->frame == ST_FRAME_ENTRY || (r->frame == ST_FRAME_NONE && is_symbol)));
}

struct st_probe_role_of
probe_role_of(const struct st_probe_planner *p, const struct st_function *f)
{
	struct st_probe_role_of role = st_probe_role(f->raw_name);
	const char *name;
	for (size_t i = 0; (name = st_image_other_name(p->image, f, i)); i++) {
		struct st_probe_role_of other = st_probe_role(name);
		if (other.role > role.role)
			role = other;
	}
	return role.role == ST_ROLE_NORMAL ? p->role : role;
}

uint8_t
probe_refusal_of_kind(const struct st_probe_planner *p, const struct st_function *f,
                      const struct st_probe_site *site)
{
	if (p->refusal && site->role.role != ST_ROLE_LINKER)
		return p->refusal;
	if (f->source == ST_SYM_PLT)
		return ST_REFUSAL_PLT;
	if (site->role.role == ST_ROLE_REFUSED)
		return ST_REFUSAL_NAME;
	if (has_address(p->resolvers, p->n_resolvers, f->offset))
		return ST_REFUSAL_IFUNC;
	const bool is_part = site->inside && f->whole != f->offset;
	return is_part || probe_is_entry(p, f) ? ST_REFUSAL_NONE : ST_REFUSAL_NO_ENTRY;
}

/* Takes the next instruction along; n bytes of the function are there. */
static uint8_t
displace(struct st_probe_site *site, size_t n, unsigned need)
{
	struct st_insn in;
	const uint8_t *code = site->bytes + site->displaced;
	if (!st_decode(code, n - site->displaced, &in))
		return in.len ? ST_REFUSAL_UNMOVABLE : ST_REFUSAL_UNDECODABLE;
	if (!probe_movable(&in, code))
		return ST_REFUSAL_UNMOVABLE;
	site->displaced = (uint8_t)(site->displaced + in.len);
	site->insns++;
	site->ends = probe_ends(&in);
	/* Its return address would be in the jump. */
	bool calls = in.cls == ST_C_CALL || in.cls == ST_C_ICALL;
	return calls && site->displaced < need ? ST_REFUSAL_ENTERED : ST_REFUSAL_NONE;
}

/* Finds the instructions to move to the stub so that `need` bytes can be overwritten. */
static uint8_t
measure_entry(const struct st_probe_planner *p, struct st_probe_site *site, unsigned need)
{
	size_t n = site->size < ST_PROBE_BYTES ? site->size : ST_PROBE_BYTES;
	uint8_t refusal = ST_REFUSAL_NONE;
	site->displaced = site->insns = 0;
	site->ends = false;
	site->patched = (uint8_t)need;
	while (!refusal && site->displaced < need && site->displaced < n && !site->ends)
		refusal = displace(site, n, need);
	if (refusal)
		return refusal;
	uint64_t end = site->at + site->displaced, patched = site->at + need;
	if (site->inside && probe_leads_claimed(p->leads, site->at, end))
		return ST_REFUSAL_CLAIMED;
	if (end < patched && (!site->ends || !probe_leads_padding(p->leads, end, patched)))
		return ST_REFUSAL_SHORT;
	return probe_leads_into(p->leads, site->at + 1, patched) ? ST_REFUSAL_ENTERED
	                                                         : ST_REFUSAL_NONE;
}

uint64_t
probe_take_island(const struct st_probe_planner *p, uint64_t at,
                  uint8_t under[ST_PROBE_JUMP_LENGTH])
{
	uint64_t from = at + ST_PROBE_SHORT_LENGTH;
	for (int d = -128; d <= 127; d++) {
		uint64_t island = from + (uint64_t)(int64_t)d, end = island + ST_PROBE_JUMP_LENGTH;
		bool overlaps = island < from && end > at;
		if (overlaps || !probe_leads_padding(p->leads, island, end))
			continue;
		if (st_image_bytes(p->image, island, under, ST_PROBE_JUMP_LENGTH) !=
		    ST_PROBE_JUMP_LENGTH)
			continue;
		probe_leads_take(p->leads, island, end);
		return island;
	}
	return 0;
}

void
probe_judge_bytes(struct st_probe_planner *p, struct st_probe_site *site)
{
	site->way = ST_PROBE_JUMP;
	site->refusal = measure_entry(p, site, ST_PROBE_JUMP_LENGTH);
	if (site->refusal) {
		uint8_t refusal = measure_entry(p, site, ST_PROBE_SHORT_LENGTH);
		site->way = ST_PROBE_ISLAND;
		if (refusal)
			site->refusal = refusal;
		else if ((site->island = probe_take_island(p, site->at, site->under_island)))
			site->refusal = ST_REFUSAL_NONE;
	}
	if (site->refusal)
		return;
	if (site->displaced < site->patched)
		probe_leads_take(p->leads, site->at + site->displaced, site->at + site->patched);
	probe_leads_claim(p->leads, site->at, site->at + site->displaced);
}

void
st_probe_judge(struct st_probe_planner *p, const struct st_function *f, struct st_probe_site *site)
{
	*site = (struct st_probe_site){
	        .at = f->offset, .size = f->size, .role = probe_role_of(p, f)};
	site->loops = probe_leads_back(p->leads, f->offset);
	site->refusal = probe_refusal_of_kind(p, f, site);
	st_image_bytes(p->image, f->offset, site->bytes, ST_PROBE_BYTES);
	if (!site->refusal)
		probe_judge_bytes(p, site);
}

const char *
st_probe_refusal_text(const struct st_probe_site *site)
{
	static const char *const texts[] = {
#define X(name, text) text,
	        ST_PROBE_REFUSALS(X)
#undef X
	};
	if (site->refusal == ST_REFUSAL_NAME && site->role.why)
		return site->role.why;
	return texts[site->refusal];
}
