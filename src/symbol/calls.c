/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the functions and system calls that the code of a function calls. */
#include <stdlib.h>
#include <string.h>

#include "rt/arch/x86_64/decode.h"
#include "symbol/symbol.h"

enum { MOST_CALLING = 1 << 24 /* bytes; a longer symbol is no function */ };

struct calling {
	struct st_image *image;
	const struct st_function *f;
	const struct st_slot *slots;
	size_t n_slots;
	uint32_t eax, edi; /* their values, if they are constants; UINT32_MAX: they are not */
	st_call_fn *use;
	void *arg;
};

static const char *
symbol_of_slot(const struct calling *c, uint64_t address)
{
	size_t low = 0, high = c->n_slots;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (c->slots[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->n_slots && c->slots[low].address == address ? c->slots[low].symbol : NULL;
}

static void
tell_symbol(const struct calling *c, uint64_t at, const char *symbol)
{
	const struct st_call call = {
	        .at = at, .symbol = symbol, .length = strcspn(symbol, "@"), .number = ST_CALL_NONE};
	c->use(c->arg, &call);
	if (c->edi != UINT32_MAX && call.length == strlen("syscall") &&
	    !strncmp(symbol, "syscall", call.length))
		c->use(c->arg, &(struct st_call){.at = at, .number = c->edi});
}

/* Reports a call, or a jump to the beginning of another function; parts of functions do not count.
 */
static void
tell_target(const struct calling *c, uint64_t at, uint64_t target)
{
	const struct st_function *to = st_image_function(c->image, target);
	if (!to || to->offset != target || to->whole != target)
		return;
	if (to->source == ST_SYM_PLT)
		tell_symbol(c, at, to->raw_name);
	else
		c->use(c->arg, &(struct st_call){.at = at, .target = to, .number = ST_CALL_NONE});
}

/* Notes a constant that the instruction puts into eax or edi, which have numbers of system calls.
 * If it puts another value there, the register is no longer known. */
static void
note_constant(struct calling *c, const uint8_t *code, const struct st_insn *in)
{
	uint32_t value;
	const uint8_t op = code[in->op_off];
	enum { RAX = 1 << 0, RDI = 1 << 7 };
	if (in->gpr_written & RAX)
		c->eax = UINT32_MAX;
	if (in->gpr_written & RDI)
		c->edi = UINT32_MAX;
	if (in->flags & ST_I_REX)
		return;
	if ((op == 0xb8 || op == 0xbf) && in->op_off == 0 && in->len == 5) {
		memcpy(&value, code + 1, sizeof value);
		*(op == 0xb8 ? &c->eax : &c->edi) = value;
	} else if ((op == 0x31 || op == 0x33) && in->len == 2 &&
	           (code[1] == 0xc0 || code[1] == 0xff)) {
		*(code[1] == 0xc0 ? &c->eax : &c->edi) = 0;
	}
}

static void
take_call(struct calling *c, const uint8_t *code, uint64_t at, const struct st_insn *in)
{
	const uint64_t end = at + in->len, target = end + (uint64_t)(int64_t)in->rel;
	int32_t away;
	const char *symbol;
	switch (in->cls) {
	case ST_C_JMP:
	case ST_C_JCC:
		/* The code after a jump or a return is reached from elsewhere, with other values.
		 */
		if (in->cls == ST_C_JMP)
			c->eax = c->edi = UINT32_MAX;
		if (target - c->f->offset >= c->f->size)
			tell_target(c, at, target);
		return;
	case ST_C_RET:
		c->eax = c->edi = UINT32_MAX;
		return;
	case ST_C_CALL:
		tell_target(c, at, target);
		c->eax = c->edi = UINT32_MAX;
		return;
	case ST_C_ICALL:
	case ST_C_IJMP:
		if (in->flags & ST_I_RIPREL) {
			memcpy(&away, code + in->disp_off, sizeof away);
			symbol = symbol_of_slot(c, end + (uint64_t)(int64_t)away);
			if (symbol)
				tell_symbol(c, at, symbol);
		}
		c->eax = c->edi = UINT32_MAX;
		return;
	case ST_C_SYSCALL:
		if (c->eax != UINT32_MAX)
			c->use(c->arg, &(struct st_call){.at = at, .number = c->eax});
		c->eax = UINT32_MAX;
		return;
	default:
		note_constant(c, code, in);
	}
}

static bool
read_calls_of(struct calling *c)
{
	const struct st_function *part = c->f;
	struct st_insn in;
	uint8_t *code = part->size && part->size <= MOST_CALLING ? malloc(part->size) : NULL;
	bool good = code && st_image_bytes(c->image, part->offset, code, part->size) == part->size;
	c->eax = c->edi = UINT32_MAX;
	for (uint64_t at = 0; good && at < part->size; at += in.len) {
		good = st_decode(code + at, part->size - at, &in);
		if (good)
			take_call(c, code + at, part->offset + at, &in);
	}
	free(code);
	return good;
}

bool
st_image_calls(struct st_image *image, const struct st_function *f, st_call_fn *use, void *arg)
{
	struct calling c = {.image = image, .f = f, .use = use, .arg = arg};
	c.slots = st_image_slots(image, &c.n_slots);
	return read_calls_of(&c);
}
