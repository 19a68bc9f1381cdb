/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_probe ROUNDS SEED: the planner on this program with random bytes for code, the same for the
 * same arguments. What takes a probe must keep the promises of site.h and stub.h; Zydis says what
 * the displaced instructions and those of the stub are.
 */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "probe/site.h"
#include "probe/stub.h"

#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "fuzz_probe: %s\n", #condition);                           \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

enum { BIAS = 0x10000000, ARENA = 0x20000000 };

static unsigned char *file;
static size_t size;
static uint64_t state;
static ZydisDecoder decoder;
static size_t judged, taken;

static void
read_self(void)
{
	FILE *f = fopen("/proc/self/exe", "rb");
	NEED(f && !fseek(f, 0, SEEK_END));
	size = (size_t)ftell(f);
	file = malloc(size);
	NEED(file && !fseek(f, 0, SEEK_SET) && fread(file, 1, size, f) == size);
	fclose(f);
}

/* Bytes that begin short instructions, branches and calls among them, as often as any. */
static void
scramble(unsigned char *at, size_t n)
{
	static const unsigned char likely[] = {
	        0x55, 0x74, 0xe2, 0xe3, 0xe8, 0xe9, 0xeb, 0xff, 0xc3, 0x0f, 0x48, 0x41, 0x66, 0x67,
	        0x8b, 0x05, 0x24, 0x90, 0xc2, 0xc7, 0xf8, 0x00, 0xd0, 0x54, 0x14, 0x15, 0x25};
	for (size_t i = 0; i < n; i++)
		at[i] = st_random_next(&state) % 2 ? likely[st_random_below(&state, sizeof likely)]
		                                   : (unsigned char)st_random_next(&state);
}

static unsigned char *
file_at(uint64_t address)
{
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Phdr *segment = (const void *)(file + header->e_phoff);
	for (int i = 0; i < header->e_phnum; i++)
		if (segment[i].p_flags & PF_X && address - segment[i].p_vaddr < segment[i].p_filesz)
			return file + segment[i].p_offset + (address - segment[i].p_vaddr);
	return NULL;
}

/* The entries of some functions. */
static void
scramble_entries(const struct st_function *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char *at = file_at(v[i].offset);
		if (at && v[i].source != ST_SYM_PLT && st_random_next(&state) % 2)
			scramble(at, v[i].size < 16 ? v[i].size : 16);
	}
}

static ZyanStatus
decode(const uint8_t *p, size_t n, ZydisDecodedInstruction *in, ZydisDecodedOperand *operands)
{
	return ZydisDecoderDecodeFull(&decoder, p, n, in, operands);
}

static bool
is_branch(const ZydisDecodedInstruction *in)
{
	return in->meta.category == ZYDIS_CATEGORY_COND_BR ||
	       in->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       in->meta.category == ZYDIS_CATEGORY_CALL;
}

/* The same mnemonic and operands, where addresses that are relative to rip are the same when they
 * are added up. */
static void
need_same(const uint8_t *a, uint64_t at_a, const uint8_t *b, uint64_t at_b, size_t n)
{
	ZydisDecodedInstruction x, y;
	ZydisDecodedOperand p[ZYDIS_MAX_OPERAND_COUNT], q[ZYDIS_MAX_OPERAND_COUNT];
	if (!ZYAN_SUCCESS(decode(a, 15, &x, p)))
		return; /* the runtime's decoder knows some that Zydis does not */
	if (is_branch(&x) && x.mnemonic != ZYDIS_MNEMONIC_JMP)
		return;
	NEED(ZYAN_SUCCESS(decode(b, n, &y, q)));
	NEED(x.mnemonic == y.mnemonic && x.operand_count == y.operand_count);
	for (int i = 0; i < x.operand_count; i++) {
		NEED(p[i].type == q[i].type);
		ZyanU64 s = 0, t = 0;
		if (p[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			NEED(p[i].reg.value == q[i].reg.value);
		if (p[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		NEED(p[i].mem.base == q[i].mem.base && p[i].mem.index == q[i].mem.index &&
		     p[i].mem.segment == q[i].mem.segment && p[i].mem.scale == q[i].mem.scale);
		if (p[i].mem.base == ZYDIS_REGISTER_RIP) {
			NEED(ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&x, &p[i], at_a, &s)) &&
			     ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&y, &q[i], at_b, &t)));
			NEED(s == t);
		}
	}
}

static void
check_stub(const struct st_probe_site *site)
{
	struct st_probe_where where = {
	        .bias = BIAS, .stub = ARENA + 64, .slot = ARENA, .index = 7, .returns = ARENA + 8};
	struct st_probe_stub stub;
	if (st_probe_stub(site, &where, &stub))
		return; /* a random address that cannot be reached */
	NEED(stub.size <= ST_PROBE_STUB_MOST && stub.insns == site->insns &&
	     stub.insns <= ST_PROBE_MOST_INSNS);
	for (unsigned i = 0; i < stub.insns; i++)
		need_same(site->bytes + stub.map[i].from, BIAS + site->at + stub.map[i].from,
		          stub.bytes + stub.map[i].to, where.stub + stub.map[i].to,
		          stub.size - stub.map[i].to);
	taken++;
}

static void
check_site(const struct st_probe_site *site)
{
	judged++;
	NEED(site->refusal < ST_REFUSALS);
	NEED(site->refusal == ST_REFUSAL_NONE || *st_probe_refusal_text(site));
	if (site->refusal)
		return;
	NEED(site->displaced && site->insns && site->displaced <= site->size);
	NEED(site->patched == (site->way == ST_PROBE_JUMP ? 5 : 2));
	NEED(site->displaced >= site->patched || site->ends);
	if (site->way == ST_PROBE_ISLAND) {
		uint64_t distance = site->island - site->at - 2;
		NEED(distance + 128 < 256);
	}
	check_stub(site);
}

static void
try_file(int fd)
{
	char path[64];
	struct st_error e;
	size_t n;
	NEED(!ftruncate(fd, 0) && pwrite(fd, file, size, 0) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct st_image *image = st_image_open(path, &e);
	NEED(image);
	struct st_probe_planner *planner = st_probe_planner_new(image);
	NEED(planner);
	const struct st_function *v = st_image_functions(image, &n);
	for (size_t i = 0; i < n; i++) {
		struct st_probe_site site;
		st_probe_judge(planner, &v[i], &site);
		check_site(&site);
	}
	st_probe_planner_free(planner);
	st_image_close(image);
}

int
main(int argc, char **argv)
{
	struct st_error e;
	size_t n;
	int fd = memfd_create("scrambled", 0), rounds = argc > 1 ? atoi(argv[1]) : 10;
	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	read_self();
	struct st_image *self = st_image_open("/proc/self/exe", &e);
	NEED(fd >= 0 && self);
	const struct st_function *v = st_image_functions(self, &n);
	for (int i = 0; i < rounds; i++) {
		scramble_entries(v, n);
		try_file(fd);
	}
	printf("%zu functions, %zu probes\n", judged, taken);
	st_image_close(self);
	free(file);
	return taken ? 0 : 1;
}
