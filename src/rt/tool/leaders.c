/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where basic blocks begin because a direct jump of their function leads there, executed or not:
 * what compilers call leaders. Without them a block that is run into and jumped to is two that
 * overlap. A function's code is looked through when the first of it is built.
 */
#include "rt/maps.h"
#include "rt/program.h"
#include "rt/tool/tool.h"

static bool wanted;
static strobe_map seen;    /* functions, by where their code begins and of which mapping it is */
static strobe_map leaders; /* by address */

void
strobe_cut_blocks(void)
{
	wanted = true;
}

static void
forget_leaders(strobe_map *m)
{
	if (m->slots)
		rt_unmap_memory(m->slots, 2 * m->size * sizeof *m->slots);
	*m = (strobe_map){0};
}

void
leaders_forget(void)
{
	wanted = false;
	forget_leaders(&seen);
	forget_leaders(&leaders);
}

static bool
is_direct_jump(const struct st_insn *in)
{
	return in->cls == ST_C_JMP || in->cls == ST_C_JCC || in->cls == ST_C_LOOP;
}

/* Data between instructions makes it find too many at worst: a block ends at no place that is not
 * the beginning of one of its instructions. */
static void
look_through(uint64_t start, uint64_t end)
{
	enum { LONGEST = 15 };
	struct st_insn in;
	for (uint64_t pc = start; pc < end; pc += in.len ? in.len : 1) {
		uint64_t space = end - pc < LONGEST ? end - pc : LONGEST;
		if (!st_decode(program_code(pc), space, &in)) {
			in.len = 1;
			continue;
		}
		uint64_t to = pc + in.len + (uint64_t)(int64_t)in.rel;
		uint64_t *at = is_direct_jump(&in) && to ? strobe_map_at(&leaders, to) : NULL;
		if (at)
			*at = 1;
	}
}

void
leaders_find(uint64_t pc, const struct map *map)
{
	uint64_t start, end = 0;
	if (!wanted || !entries_range(pc, &start, &end))
		return;
	uint64_t *known = strobe_map_at(&seen, start | (map->index + 1ul) << ST_LABEL_ADDRESS_BITS);
	if (!known || *known)
		return;
	*known = 1;
	uint64_t rest = maps_run_end(map);
	look_through(start, end < rest ? end : rest);
}

bool
leaders_has(uint64_t pc)
{
	return leaders.used && strobe_map_find(&leaders, pc);
}
