/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points, conditions and actions: what a tool asks for while code is translated. */
#include "rt/program.h"
#include "rt/tool/events.h"

/* ---- points ---- */

static strobe_point
point(uint32_t index)
{
	return (strobe_point){&asked, index, 0};
}

strobe_point
strobe_at_block(strobe_block *b)
{
	(void)b;
	return point(POINT_ENTRY);
}

strobe_point
strobe_at_insn(strobe_insn *i)
{
	return point(i->index);
}

strobe_point
strobe_behind(strobe_insn *i)
{
	return point(i->index | POINT_AFTER);
}

strobe_point
strobe_at_access(strobe_access *a)
{
	return point(a->index);
}

strobe_point
strobe_at_branch(strobe_branch *b)
{
	return point(b->index);
}

strobe_point
strobe_at_call(strobe_call *c)
{
	return point(c->index);
}

strobe_point
strobe_at_function(strobe_function *f)
{
	(void)f;
	return point(0);
}

strobe_point
strobe_at_return(strobe_function *f)
{
	(void)f;
	return point(POINT_RETURN);
}

const struct condition *
condition_before(const struct condition *c)
{
	return c->narrows ? &asked.conditions[c->narrows - 1] : NULL;
}

static void
leave_tool_out(const char *why)
{
	if (!tools.tool[asked.tool].failed)
		rt_complain(why, event_address(asked.b, asked.from));
	tools.tool[asked.tool].failed = true;
}

/* The point under one condition more. */
static strobe_point
with_condition(strobe_point at, struct condition c)
{
	unsigned n = 1;
	for (uint32_t i = at.condition; i; i = asked.conditions[i - 1].narrows)
		n++;
	if (n > STROBE_MOST_CONDITIONS) {
		leave_tool_out("a tool was left out: it has too many conditions on a point at");
		return at;
	}
	c.narrows = (uint8_t)at.condition;
	if (asked.n_conditions == MAX_CONDITIONS) {
		asked.overflow = true;
		return at;
	}
	asked.conditions[asked.n_conditions++] = c;
	at.condition = asked.n_conditions;
	return at;
}

strobe_point
strobe_when(strobe_point at, strobe_operand a, enum strobe_relation relation, strobe_operand b)
{
	return with_condition(at, (struct condition){.kind = CONDITION_RELATION,
	                                             .is = {(uint8_t)relation, a, b}});
}

static bool
is_conditional(const strobe_branch *b)
{
	return strobe_branch_kind(b) == STROBE_CONDITIONAL;
}

strobe_point
strobe_when_taken(strobe_branch *b)
{
	strobe_point at = strobe_at_branch(b);
	return is_conditional(b) ? with_condition(at, (struct condition){.kind = CONDITION_TAKEN})
	                         : at;
}

/* 1 = 0: never. */
static const struct condition never = {
        .kind = CONDITION_RELATION,
        .is = {STROBE_EQUAL, {OPERAND_CONSTANT, 0, 1}, {OPERAND_CONSTANT, 0, 0}}};

strobe_point
strobe_when_not_taken(strobe_branch *b)
{
	strobe_point at = strobe_at_branch(b);
	if (!is_conditional(b))
		return with_condition(at, never);
	return with_condition(at, (struct condition){.kind = CONDITION_NOT_TAKEN});
}

/* ---- counts ---- */

static struct st_amount *
asked_amounts(void)
{
	return (struct st_amount *)((char *)rt.results + rt.results->layout.off_amounts);
}

static void
add_amount(uint32_t block, uint32_t first, uint32_t last, uint64_t cell, int64_t amount)
{
	struct st_results_header *r = rt.results;
	if (r->blocks.n_amounts && r->blocks.n_amounts <= ST_MAX_AMOUNTS && first && last > first) {
		struct st_amount *before = &asked_amounts()[r->blocks.n_amounts - 1];
		if (before->block == block && before->cell == cell && before->amount == amount &&
		    before->last == first && before->first < before->last) {
			before->last = (uint16_t)last;
			return;
		}
	}
	if (r->blocks.n_amounts < ST_MAX_AMOUNTS)
		asked_amounts()[r->blocks.n_amounts] =
		        (struct st_amount){block, (uint16_t)first, (uint16_t)last, cell, amount};
	__atomic_store_n(&r->blocks.n_amounts, r->blocks.n_amounts + 1, __ATOMIC_RELEASE);
}

static void
mark_counted(uint32_t id)
{
	struct st_block *blocks = (void *)((char *)rt.results + rt.results->layout.off_blocks);
	blocks[id].flags |= ST_BLOCK_COUNTED;
}

/* A constant amount without a condition. */
static void
count_plainly(strobe_point at, uint64_t cell, int64_t amount)
{
	mark_counted(asked.id);
	if (!asked.fresh)
		return;
	uint32_t first = asked.base + (at.where & 0xffff);
	if (at.where & POINT_ENTRY)
		add_amount(asked.id, 0, 0, cell, amount);
	else
		add_amount(asked.id, first, first + 1, cell, amount);
}

/* The key of an action within its block: its instruction, and its number there. */
static uint64_t
key_of_next(strobe_point at)
{
	uint32_t index = asked.base + (at.where & 0xffff);
	return (uint64_t)asked.id << 32 | (uint64_t)(index & 0x7fff) << 17 |
	       (uint64_t)asked.tool << 13 | (asked.serial++ & 0x1fff);
}

/* The value written is there when the instruction has been executed; that of a string instruction
 * is known before, and its address afterwards is not. */
static bool
is_register_written(const strobe_operand *o, uint32_t index)
{
	if (index >= asked.b->n || o->kind != OPERAND_VALUE)
		return false;
	struct st_access found[ST_MAX_ACCESSES];
	const uint8_t *code = program_code(event_address(asked.b, index));
	unsigned n = st_accesses(&asked.b->insn[index], code, found);
	const struct st_access *a = &found[o->detail];
	return o->detail < n && a->write && !a->read && a->kind != ST_ACCESS_RDI;
}

/* A return, and an access of several pieces, have no code of their own: the action carries the
 * condition along. */
static struct action *
new_performed_action(strobe_point at)
{
	struct action *a = asked.elements ? elements_new_action() : returns_new_action();
	if (!a) {
		leave_tool_out(asked.elements ? "a tool was left out: it has too many actions at "
		                                "the parts of an access at"
		                              : "a tool was left out: it has too many actions at "
		                                "a return, of the function at");
		return NULL;
	}
	*a = (struct action){.tool = (uint8_t)asked.tool};
	const struct condition *c = at.condition ? &asked.conditions[at.condition - 1] : NULL;
	for (; c; c = condition_before(c))
		a->relations[a->n_relations++] = c->is;
	return a;
}

struct action *
ask_action(strobe_point at, enum action_kind kind)
{
	if ((at.where & POINT_RETURN) || asked.elements) {
		struct action *a = new_performed_action(at);
		if (a)
			a->kind = (uint8_t)kind;
		return a;
	}
	if (asked.n_actions == MAX_ACTIONS) {
		asked.overflow = true;
		return NULL;
	}
	struct action *a = &asked.actions[asked.n_actions++];
	a->kind = (uint8_t)kind;
	a->insn = (uint8_t)at.where; /* without the bits */
	a->n = 0;
	a->tool = (uint8_t)asked.tool;
	a->condition = (uint8_t)at.condition;
	const struct condition *c = at.condition ? &asked.conditions[at.condition - 1] : NULL;
	a->after = (at.where & POINT_AFTER) != 0;
	for (; c; c = condition_before(c))
		a->after |=
		        c->kind == CONDITION_RELATION && (is_register_written(&c->is.a, at.where) ||
		                                          is_register_written(&c->is.b, at.where));
	return a;
}

/* When the branch at the end goes in that direction. */
static void
count_direction(enum direction direction, uint64_t cell, int64_t amount)
{
	if (asked.n_edge_amounts == MAX_CONDITIONS) {
		asked.overflow = true;
		return;
	}
	mark_counted(asked.id);
	asked.edge_amounts[asked.n_edge_amounts++] = (struct edge_amount){cell, amount, direction};
}

static void
count_cell(strobe_point at, uint64_t cell, int64_t amount)
{
	if (!asked.id || !amount)
		return;
	if (!at.condition && !(at.where & POINT_RETURN) && !asked.elements) {
		count_plainly(at, cell, amount);
		return;
	}
	unsigned kind = at.condition ? asked.conditions[at.condition - 1].kind : CONDITION_RELATION;
	if (kind == CONDITION_TAKEN || kind == CONDITION_NOT_TAKEN) {
		count_direction(kind == CONDITION_TAKEN ? DIRECTION_TAKEN : DIRECTION_NOT_TAKEN,
		                cell, amount);
		return;
	}
	uint64_t key = key_of_next(at);
	struct action *a = ask_action(at, ACTION_COUNTER);
	if (a)
		a->id = counter_of(key, cell, amount);
}

static strobe_counter *counters[ST_MAX_COUNTERS];

void
counters_forget(void)
{
	own_forget();
	for (unsigned i = 0; i < ST_MAX_COUNTERS && counters[i]; i++) {
		counters[i]->id = 0;
		counters[i] = NULL;
	}
}

uint64_t
counter_cell(strobe_counter *counter)
{
	struct st_results_header *r = rt.results;
	if (!counter->id) {
		if (r->counters.n >= ST_MAX_COUNTERS)
			return 0;
		r->counters.names[r->counters.n] = text_add(counter->name);
		r->counters.helps[r->counters.n] = text_add(counter->help);
		r->counters.tools[r->counters.n] = tool_current();
		counters[r->counters.n] = counter;
		counter->id = ++r->counters.n;
	}
	return ST_CELL(0, counter->id - 1, 0);
}

void
strobe_count_counter(strobe_point at, strobe_counter *counter, int64_t amount)
{
	count_cell(at, counter_cell(counter), amount);
}

void
strobe_count_insns(strobe_block *b, strobe_counter *counter)
{
	uint64_t cell = counter_cell(counter);
	if (!asked.id || !b->b->whole_insns)
		return;
	mark_counted(asked.id);
	if (asked.fresh)
		add_amount(asked.id, 0, b->b->whole_insns, cell, 1);
}

void
strobe_count_cell(strobe_point at, strobe_cell cell, int64_t amount)
{
	count_cell(at, cell.cell, amount);
}

static void
count_by_target(strobe_table *table, unsigned column, unsigned target, const uint64_t *keys)
{
	if (!asked.id)
		return;
	if (asked.n_target_counts == MAX_TARGET_COUNTS) {
		asked.overflow = true;
		return;
	}
	struct target_count *c = &asked.target_counts[asked.n_target_counts++];
	table_declare(table);
	*c = (struct target_count){table, (uint8_t)column, (uint8_t)target, {0}};
	for (unsigned i = 0; i < STROBE_MOST_COLUMNS && table->columns[i].name; i++)
		if (table->columns[i].role == STROBE_IS_KEY)
			c->keys[i] = keys[i];
}

void
strobe_count_row(strobe_branch *b, strobe_table *table, unsigned column, unsigned target,
                 const uint64_t *keys)
{
	uint64_t all[STROBE_MOST_COLUMNS] = {0};
	if (!strobe_branch_to(b)) {
		count_by_target(table, column, target, keys);
		return;
	}
	for (unsigned i = 0; i < STROBE_MOST_COLUMNS && table->columns[i].name; i++)
		if (table->columns[i].role == STROBE_IS_KEY)
			all[i] = i == target ? strobe_branch_to(b) : keys[i];
	strobe_count_cell(strobe_when_taken(b), strobe_find_cell(table, column, all), 1);
}

static void
add_value(strobe_point at, uint64_t cell, strobe_operand value)
{
	if (!asked.id)
		return;
	if (value.kind == OPERAND_CONSTANT) {
		count_cell(at, cell, (int64_t)value.value);
		return;
	}
	struct action *a = ask_action(at, ACTION_ADD);
	if (!a)
		return;
	a->id = counter_of(key_of_next(at), cell, 1);
	a->cell = cell;
	a->n = 1;
	a->operand[0] = value;
	a->after |= is_register_written(&value, at.where);
}

void
strobe_add_counter(strobe_point at, strobe_counter *counter, strobe_operand value)
{
	add_value(at, counter_cell(counter), value);
}

void
strobe_add_cell(strobe_point at, strobe_cell cell, strobe_operand value)
{
	add_value(at, cell.cell, value);
}

/* ---- rows, calls ---- */

void
strobe_record_row(strobe_point at, strobe_stream *stream, unsigned n,
                  const strobe_operand *operands)
{
	if (!asked.id || n > STROBE_MOST_COLUMNS)
		return;
	uint8_t s = stream_declare(stream);
	struct action *a = s < ST_MAX_STREAMS ? ask_action(at, ACTION_RECORD) : NULL;
	if (!a)
		return;
	strobe_site site = {.stream = s};
	memset(site.where, -1, sizeof site.where); /* columns without an operand are 0 */
	for (unsigned i = 0; i < n; i++) {
		bool constant = operands[i].kind == OPERAND_CONSTANT;
		site.where[i] = (int8_t)(constant ? -1 : site.n_values);
		site.constant[i] = constant ? operands[i].value : 0;
		if (constant)
			continue;
		a->operand[site.n_values++] = operands[i];
		a->after |= is_register_written(&operands[i], at.where);
	}
	a->n = site.n_values;
	a->stream = s;
	a->id = site_of(key_of_next(at), &site);
	if (!(at.where & POINT_RETURN) && !asked.elements)
		asked.streams |= (uint8_t)(1u << s);
}

void
ask_invoke(uint32_t insn, strobe_callee *function, unsigned n, const strobe_operand *operands,
           bool at_return)
{
	strobe_point at = point(insn);
	if (at_return)
		at = with_condition(at, (struct condition){.kind = CONDITION_RETURNS});
	strobe_invoke_with(at, function, n, operands);
}

void
strobe_invoke_with(strobe_point at, strobe_callee *function, unsigned n,
                   const strobe_operand *operands)
{
	struct action *a = n <= STROBE_MOST_VALUES ? ask_action(at, ACTION_INVOKE) : NULL;
	if (!a)
		return;
	a->function = function;
	a->n = (uint8_t)n;
	for (unsigned i = 0; i < n; i++) {
		a->operand[i] = operands[i];
		a->after |= is_register_written(&operands[i], at.where);
	}
}
