/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const reg_names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static const char *
unit_at(const struct fz_gen *g, uint32_t at, char *buf, size_t n)
{
	size_t used = 0;

	buf[0] = 0;
	for (unsigned i = 0; i < g->nbounds; i++) {
		unsigned u = g->bounds[i].unit;

		if (g->bounds[i].offset != at || used >= n)
			continue;
		int k = u < g->nunits ? snprintf(buf + used, n - used, " %u:%s", u,
		                                 fz_unit_name(g->units[u].kind))
		                      : snprintf(buf + used, n - used, " end");
		used += k > 0 ? (size_t)k : 0;
	}
	return buf;
}

void
fz_dump_code(const struct fz_gen *g)
{
	char units[256];
	uint32_t at = 0;

	printf("sequence %" PRIu64 ": %s%s slot %u, %u units, %u bytes at 0x%" PRIx64
	       ", %u runs%s\n",
	       g->index, g->region->name, g->rwx ? " rwx" : "", g->slot, g->nunits, g->code.len,
	       g->code.base, g->repeat, g->resume ? ", resumes after faults" : "");
	while (at < g->code.len) {
		ZydisDisassembledInstruction in;
		size_t left = g->code.len - at;
		unsigned n = 1;

		unit_at(g, at, units, sizeof units);
		if (units[0])
			printf("%s\n", units);
		bool ok = ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64,
		                                             g->code.base + at, g->code.bytes + at,
		                                             left, &in));
		if (ok)
			n = in.info.length;
		printf("  %" PRIx64 " ", g->code.base + at);
		for (unsigned i = 0; i < 15; i++)
			printf(i < n ? "%02x" : "  ", g->code.bytes[at + (i < n ? i : 0)]);
		printf(" %s\n", ok ? in.text : "(bad)");
		at += n;
	}
}

static void
dump_vectors(const char *prefix, const struct fz_vectors *v)
{
	uint32_t words[sizeof *v / 4];

	memcpy(words, v, sizeof words);
	for (size_t i = 0; i < sizeof words / sizeof *words; i += 4) {
		size_t at = i * 4;
		const char *part = at < 32     ? "x87 control"
		                   : at < 160  ? "st"
		                   : at < 416  ? "xmm"
		                   : at < 512  ? "reserved"
		                   : at < 768  ? "ymm high"
		                   : at < 832  ? "k"
		                   : at < 1344 ? "zmm high"
		                               : "zmm16-31";
		size_t nth = at < 32     ? at / 16
		             : at < 160  ? (at - 32) / 16
		             : at < 416  ? (at - 160) / 16
		             : at < 512  ? (at - 416) / 16
		             : at < 768  ? (at - 512) / 16
		             : at < 832  ? (at - 768) / 16 * 2
		             : at < 1344 ? (at - 832) / 32
		                         : 16 + (at - 1344) / 64;

		printf("%s%s %zu: %08x %08x %08x %08x\n", prefix, part, nth, words[i], words[i + 1],
		       words[i + 2], words[i + 3]);
	}
}

static void
dump_memory(void *arg, const char *name, uint64_t start, size_t size)
{
	const uint64_t *p = (const uint64_t *)start;

	(void)arg;
	printf("memory %s hash %016" PRIx64 "\n", name, fz_hash_bytes(0, p, size));
	for (size_t i = 0; i < size / 8; i++)
		printf("  %s+%zx: %016" PRIx64 "\n", name, i * 8, p[i]);
}

void
fz_dump_result(const struct fz_gen *g, unsigned round, const struct fz_result *r)
{
	printf("run %u of sequence %" PRIu64 ": %u signals, %s\n", round, g->index, r->nfaults,
	       r->left ? "left through the exit" : "ended by the last signal");
	for (unsigned i = 0; i < r->nfaults; i++) {
		const struct fz_fault *f = &r->faults[i];

		printf("signal %d code %d address 0x%" PRIx64 " rip 0x%" PRIx64 " (code+0x%" PRIx64
		       ") flags 0x%" PRIx64 " err 0x%" PRIx64 " trap %" PRIu64 " cr2 0x%" PRIx64
		       "\n",
		       f->sig, f->code, f->address, f->rip, f->rip - g->code.base, f->flags, f->err,
		       f->trapno, f->cr2);
		for (unsigned k = 0; k < 16; k++)
			printf("  signal %u %s 0x%" PRIx64 "\n", i, reg_names[k], f->gpr[k]);
		dump_vectors("  signal ", &f->vec);
	}
	if (r->left) {
		for (unsigned k = 0; k < 16; k++)
			printf("%s 0x%" PRIx64 "\n", reg_names[k], r->gpr[k]);
		printf("flags 0x%" PRIx64 "\n", r->flags);
		dump_vectors("", &r->vec);
	}
	fz_arena_each(g->region, dump_memory, NULL);
}
