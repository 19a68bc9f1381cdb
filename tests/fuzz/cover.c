/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NMNEMONICS = ZYDIS_MNEMONIC_MAX_VALUE + 1 };

static uint64_t executed[NMNEMONICS], faulted[NMNEMONICS];
static const struct fz_gen *current;
static ZydisMnemonic pending;
static unsigned steps;

/* Enough for all of a sequence but long loops: a step costs more than 10 microseconds. */
enum { MAX_STEPS = 600 };

/* An instruction counts as executed once the next one is about to be. */
static bool
on_step(uint64_t rip, const uint64_t *rsp)
{
	struct fz_insn i;
	uint64_t at = rip - current->code.base;

	executed[pending]++;
	pending = ZYDIS_MNEMONIC_INVALID;
	if (at >= current->code.len || !fz_decode(&i, (const uint8_t *)rip, 15))
		return true;
	if (++steps > MAX_STEPS)
		return false;
	pending = i.in.mnemonic;
	/* popf must not end the single-stepping. */
	if (pending == ZYDIS_MNEMONIC_POPFQ || pending == ZYDIS_MNEMONIC_POPF)
		*(uint16_t *)*rsp |= 0x100;
	return true;
}

static void
on_fault(void)
{
	faulted[pending]++;
	pending = ZYDIS_MNEMONIC_INVALID;
}

void
fz_cover_start(void)
{
	fz_on_step = on_step;
	fz_on_fault = on_fault;
}

void
fz_cover_begin(const struct fz_gen *g)
{
	current = g;
	pending = ZYDIS_MNEMONIC_INVALID;
	steps = 0;
}

struct row {
	uint64_t count;
	unsigned mnemonic;
	const char *why; /* never generated */
};

static int
by_count(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	return x->count != y->count ? (x->count < y->count ? 1 : -1)
	                            : (x->mnemonic > y->mnemonic) - (x->mnemonic < y->mnemonic);
}

/* The mnemonic is left out if all of its forms are. */
static void
fill_rows(struct row *rows, const struct fz_corpus *c, enum fz_isa isa)
{
	for (size_t i = 0; i < NMNEMONICS; i++)
		rows[i] = (struct row){.mnemonic = (unsigned)i, .why = "not seen"};
	for (size_t i = 0; i < c->n; i++) {
		const struct fz_form *f = &c->forms[i];
		struct row *r = &rows[f->mnemonic];
		struct fz_insn in;

		if (f->mnemonic >= NMNEMONICS || !fz_decode(&in, f->bytes, f->len))
			continue;
		const char *why = fz_excluded(&in, isa);

		r->count += f->count;
		if (!why || r->count == f->count)
			r->why = r->why && r->count != f->count ? why : !why ? NULL : why;
	}
}

static void
print_corpus(struct row *rows)
{
	unsigned total = 0, left_out = 0, ran = 0, only_faulted = 0;

	qsort(rows, NMNEMONICS, sizeof *rows, by_count);
	for (size_t i = 0; i < NMNEMONICS && rows[i].count; i++) {
		unsigned m = rows[i].mnemonic;
		const char *state = executed[m]   ? "executed"
		                    : faulted[m]  ? "faulted"
		                    : rows[i].why ? rows[i].why
		                                  : "MISSED";

		total++;
		ran += executed[m] > 0;
		only_faulted += !executed[m] && faulted[m];
		left_out += !executed[m] && !faulted[m] && rows[i].why;
		printf("%-20s %12" PRIu64 " in packages %10" PRIu64 " run %8" PRIu64
		       " faulted: %s\n",
		       ZydisMnemonicGetString((ZydisMnemonic)m), rows[i].count, executed[m],
		       faulted[m], state);
	}
	unsigned open = total - left_out;

	printf("mnemonics in packages: %u, left out for the reasons above: %u, of the other %u "
	       "executed %u (%.1f %%), "
	       "only faulted %u (this CPU lacks them), missed %u\n",
	       total, left_out, open, ran, open ? 100.0 * ran / open : 0, only_faulted,
	       open - ran - only_faulted);
}

void
fz_cover_print(const struct fz_corpus *c, enum fz_isa isa)
{
	static struct row rows[NMNEMONICS];
	unsigned all = 0;

	for (size_t i = 1; i < NMNEMONICS; i++)
		all += executed[i] > 0;
	if (c) {
		fill_rows(rows, c, isa);
		print_corpus(rows);
	}
	printf("mnemonics executed, in packages or not: %u\n", all);
}
