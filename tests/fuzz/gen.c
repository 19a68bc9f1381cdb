/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gen.h"

#include <string.h>

#define KIND_NAME(name, weight, children) #name,
#define KIND_WEIGHT(name, weight, children) weight,
#define KIND_CHILDREN(name, weight, children) children,
#define KIND_EMIT(name, weight, children) fz_emit_##name,
static const char *const kind_names[] = {FZ_UNITS(KIND_NAME)};
static const uint16_t kind_weights[] = {FZ_UNITS(KIND_WEIGHT)};
static const uint8_t kind_children[] = {FZ_UNITS(KIND_CHILDREN)};
static void (*const kind_emit[])(struct fz_gen *, unsigned) = {FZ_UNITS(KIND_EMIT)};

const char *
fz_unit_name(unsigned kind)
{
	return kind_names[kind];
}

uint64_t
fz_some_value(struct fz_rng *rng)
{
	static const uint64_t edges[] = {0,
	                                 1,
	                                 UINT64_MAX,
	                                 0x7fffffff,
	                                 0x80000000,
	                                 0xffffffff,
	                                 0x7fffffffffffffff,
	                                 0x8000000000000000,
	                                 0x80,
	                                 0x7f,
	                                 0xff,
	                                 0x8000,
	                                 0x7fff};
	uint64_t v = fz_next(rng);

	switch (fz_below(rng, 8)) {
	case 0:
		return edges[v % (sizeof edges / sizeof *edges)];
	case 1:
		return v % 64;
	case 2:
		return (uint64_t) - (int64_t)(v % 64);
	case 3:
		return v & 0xffffffff;
	case 4:
		return fz_arena.main + 0x200 + v % 0x1c00;
	case 5:
		return fz_arena.low + 0x200 + v % 0xc00;
	default:
		return v;
	}
}

static unsigned
pick_kind(struct fz_gen *g, unsigned depth)
{
	unsigned total = 0;
	uint32_t allowed = 0;

	for (unsigned k = 0; k < FZ_NKINDS; k++)
		if ((g->opt->kinds >> k & 1) && (depth < 3 || kind_children[k] == 0)) {
			allowed |= 1u << k;
			total += kind_weights[k];
		}
	unsigned at = total ? fz_below(&g->rng, total) : 0;

	for (unsigned k = 0; k < FZ_NKINDS; k++)
		if (allowed >> k & 1) {
			if (at < kind_weights[k])
				return k;
			at -= kind_weights[k];
		}
	return FZ_U_insn;
}

static void
plan(struct fz_gen *g, unsigned count, unsigned depth)
{
	for (unsigned n = 0; n < count && g->nunits < g->opt->max_units; n++) {
		unsigned i = g->nunits++;
		struct fz_unit *u = &g->units[i];

		u->kind = (uint8_t)pick_kind(g, depth);
		u->seed = fz_next(&g->rng);
		if (kind_children[u->kind])
			plan(g, 1 + fz_below(&g->rng, kind_children[u->kind]), depth + 1);
		u->end = (uint16_t)g->nunits;
	}
}

static void
choose_place(struct fz_gen *g)
{
	unsigned nth;

	do {
		nth = fz_below(&g->rng, FZ_NREGIONS);
	} while (!fz_regions[nth].enabled);
	g->region = &fz_regions[nth];
	g->rwx = fz_chance(&g->rng, 20) && !g->opt->no_rwx;
	g->slot = (unsigned)(g->index % (g->rwx ? FZ_RWX_SLOTS : FZ_CODE_SLOTS));
}

static void
choose_state(struct fz_gen *g)
{
	static const uint16_t flag_bits[] = {0x1, 0x4, 0x10, 0x40, 0x80, 0x800};

	for (unsigned r = 0; r < 16; r++)
		g->gpr[r] = fz_some_value(&g->rng);
	g->gpr[RSP] = fz_arena.stack + FZ_STACK_SIZE / 2 + fz_below(&g->rng, 64) * 16;
	if (fz_chance(&g->rng, 15))
		g->gpr[RSP] += fz_below(&g->rng, 16);
	g->flags = 0x202;
	for (unsigned i = 0; i < 6; i++)
		g->flags |= fz_chance(&g->rng, 50) ? flag_bits[i] : 0;
	g->flags |= fz_chance(&g->rng, 15) ? 0x400 : 0;
	g->repeat = fz_chance(&g->rng, 75)   ? 1
	            : fz_chance(&g->rng, 70) ? 2 + fz_below(&g->rng, 3)
	                                     : 60;
	if (g->opt->repeat)
		g->repeat = (unsigned)g->opt->repeat;
	g->resume = fz_chance(&g->rng, 75) && !g->opt->loose_signals;
}

void
fz_add_bound(struct fz_gen *g, unsigned unit)
{
	if (g->nbounds < FZ_MAX_BOUNDS)
		g->bounds[g->nbounds++] = (struct fz_bound){g->code.len, (uint16_t)unit};
}

void
fz_emit_range(struct fz_gen *g, unsigned first, unsigned end)
{
	struct fz_rng saved = g->rng;

	for (unsigned i = first; i < end; i = g->units[i].end) {
		fz_add_bound(g, i);
		g->rng.state = g->units[i].seed;
		if (!g->selected || g->selected[i])
			kind_emit[g->units[i].kind](g, i);
		else
			fz_emit_range(g, i + 1, g->units[i].end);
	}
	g->rng = saved;
}

/*
 * Bytes that are never executed, to mislead a decoder that looks ahead: traps, invalid opcodes,
 * prefixes. Should control come here after a fault, they trap, so that no wild loop comes of it.
 */
void
fz_junk(struct fz_gen *g, unsigned n)
{
	static const uint8_t junk[] = {0xcc, 0xcc, 0xf4, 0x06, 0x0e, 0x27,
	                               0xd4, 0x60, 0x48, 0x66, 0x2e, 0x9a};

	for (unsigned i = 0; i < n; i++)
		fz_put8(&g->code, junk[fz_below(&g->rng, sizeof junk)]);
}

static void
emit_exit(struct fz_gen *g)
{
	fz_clobber(g, 0xffff);
	fz_add_bound(g, g->nunits);
	FZ_PUT(&g->code, 0xff);
	fz_rip(&g->code, 4, fz_ctrl_address(g, FZ_CTRL_EXIT), 0);
}

static bool
emit(struct fz_gen *g)
{
	uint64_t base = g->region->base + (g->rwx ? FZ_R_RWX : FZ_R_CODE) + g->slot * FZ_SLOT;
	struct fz_rng rng = {.state = g->seed ^ 0xc0de};

	fz_code_start(&g->code, base + fz_below(&rng, 64));
	g->nbounds = 0;
	g->nleaves = 0;
	memset(g->ctrl, 0, sizeof g->ctrl);
	g->next_table = FZ_CTRL_TABLE;
	g->next_counter = FZ_CTRL_COUNTER;
	for (unsigned i = FZ_CTRL_COUNTER; i < FZ_CTRL_END; i++)
		g->ctrl[i] = fz_below(&rng, 4);
	g->reserved = 0;
	g->known = (uint16_t) ~(1u << RSP);
	memcpy(g->value, g->gpr, sizeof g->value);
	g->balanced = false;
	g->iterations = 1;
	g->uses_fs = false;
	fz_emit_range(g, 0, g->nunits);
	emit_exit(g);
	fz_emit_leaves(g);
	return fz_code_finish(&g->code, g->ctrl);
}

/* Keeps the first half of the outermost units. */
static void
halve(struct fz_gen *g)
{
	unsigned end = 0;

	while (g->units[end].end <= g->nunits / 2)
		end = g->units[end].end;
	g->nunits = end;
}

void
fz_generate(struct fz_gen *g, const struct fz_options *opt, uint64_t index, const uint8_t *selected)
{
	g->opt = opt;
	g->index = index;
	g->seed = fz_mix(opt->seed * 0x9e3779b97f4a7c15u + fz_mix(index + 1));
	g->rng.state = g->seed;
	g->selected = selected;
	g->nunits = 0;
	g->force_near = false;
	choose_place(g);
	choose_state(g);
	plan(g, 1 + fz_below(&g->rng, 16), 0);
	if (emit(g))
		return;
	/* A distance too long for a short jump: once more with long ones. Too much code: fewer
	 * units. */
	g->force_near = true;
	while (!emit(g) && g->nunits > 0)
		halve(g);
}

unsigned
fz_pick_reg(struct fz_gen *g, unsigned avoid_set)
{
	unsigned r;

	do {
		r = fz_below(&g->rng, 16);
	} while (fz_reserved(g, r) || (avoid_set >> r & 1));
	return r;
}

uint64_t
fz_ctrl_address(const struct fz_gen *g, unsigned slot)
{
	return g->region->base + FZ_R_CTRL + slot * 8;
}

unsigned
fz_new_counter(struct fz_gen *g)
{
	if (g->next_counter == FZ_CTRL_END)
		g->code.full = true;
	else
		g->next_counter++;
	return g->next_counter - 1;
}

unsigned
fz_new_table(struct fz_gen *g, unsigned n)
{
	unsigned at = g->next_table;

	if (at + n > FZ_CTRL_TABLE_END) {
		g->code.full = true;
		return FZ_CTRL_TABLE;
	}
	g->next_table += n;
	return at;
}

void
fz_set_reg(struct fz_gen *g, unsigned r, uint64_t v)
{
	fz_mov_imm(&g->code, r, v, fz_below(&g->rng, 64));
	g->known |= (uint16_t)(1u << r);
	g->value[r] = v;
}
