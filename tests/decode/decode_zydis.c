/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decode_zydis [-n COUNT] [-s SEED] [-e] [-v] [ELF...]: compares st_decode and st_accesses with
 * Zydis on COUNT random byte strings, with -e on every opcode of every map under every ModRM and
 * the prefixes that matter, and on the executable sections of the ELF files. Exits 1 on any
 * disagreement. -v lists where our register and flag sets are coarser than Zydis's.
 */
#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elf_text.h"
#include "oracle.h"
#include "rt/arch/x86_64/operands.h"

#define MAX_PRINTED 40
#define CHUNK 15

struct tally {
	uint64_t count[DISAGREE + 1];
	struct slack slack[ZYDIS_MNEMONIC_MAX_VALUE + 1]; /* by mnemonic */
	unsigned printed;
};

static struct tally total;

static void
print_case(const char *where, const uint8_t *p, size_t n, const struct outcome *o)
{
	if (total.printed++ >= MAX_PRINTED)
		return;
	printf("%s: %s:", where, o->verdict == ONLY_ZYDIS ? "we reject" : o->why);
	for (size_t i = 0; i < (o->len && o->len < n ? o->len : n); i++)
		printf(" %02x", p[i]);
	printf("  (%s)\n", o->len ? oracle_mnemonic(o->mnemonic) : "?");
}

static unsigned
check(const char *where, const uint8_t *p, size_t n)
{
	struct outcome o;
	struct slack s = {0}, *sum;

	oracle_compare(p, n, &o, &s);
	total.count[o.verdict]++;
	if (o.verdict == DISAGREE || o.verdict == ONLY_ZYDIS)
		print_case(where, p, n, &o);
	sum = &total.slack[o.mnemonic];
	sum->insns += s.insns;
	sum->gpr_read += s.gpr_read;
	sum->gpr_written += s.gpr_written;
	sum->flags_read += s.flags_read;
	sum->flags_written += s.flags_written;
	sum->mem += s.mem;
	return o.len;
}

/* xorshift64*: the same bytes for the same seed on every machine */
static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* Random bytes, three quarters of them behind a start that leads to the rarer maps. */
static void
random_bytes(uint64_t *state, uint8_t buf[16])
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x64, 0x65, 0x2e,
	                                   0x3e, 0x26, 0x36, 0x48, 0x41, 0x4f, 0x40, 0x66};
	static const char starts[][4] = {"\x0f", "\x0f\x38", "\x0f\x3a", "\xc5",
	                                 "\xc4", "\x62",     "\x0f\x0f", ""};
	uint64_t a = next_random(state), b = next_random(state), c = next_random(state);
	const char *start = starts[c >> 4 & 7];
	unsigned at = 0;

	memcpy(buf, &a, 8);
	memcpy(buf + 8, &b, 8);
	if ((c & 3) == 0)
		return;
	for (unsigned i = 0; i < (c >> 8 & 3); i++)
		buf[at++] = prefixes[c >> (12 + 4 * i) & 15];
	while (*start)
		buf[at++] = (uint8_t)*start++;
	if (buf[at - (at > 0)] == 0x62) /* or half of all EVEX prefixes are none */
		buf[at] &= 0xf7, buf[at + 1] |= 4;
}

static void
run_random(uint64_t count, uint64_t seed)
{
	uint64_t state = seed;
	uint8_t buf[16];

	for (uint64_t i = 0; i < count; i++) {
		random_bytes(&state, buf);
		check("random", buf, CHUNK);
	}
}

/* Every opcode and ModRM after the given start, with an arbitrary but fixed tail. */
static void
run_map(const uint8_t *start, size_t len)
{
	uint8_t buf[CHUNK + 2] = {0};

	for (unsigned modrm = 0; modrm < 256; modrm++) {
		for (unsigned op = 0; op < 256; op++) {
			memset(buf, 0x11, sizeof(buf));
			memcpy(buf, start, len);
			buf[len] = (uint8_t)op;
			buf[len + 1] = (uint8_t)modrm;
			buf[len + 2] = (uint8_t)(modrm * 37);
			check("exhaustive", buf, CHUNK);
		}
	}
}

static void
run_legacy_maps(void)
{
	static const char prefixes[][4] = {"",         "\x66",     "\xf2",     "\xf3", "\x48",
	                                   "\x66\x48", "\xf2\x48", "\xf3\x48", "\x45", "\x67",
	                                   "\xf0",     "\x66\xf2", "\x66\xf3", "\x65"};
	static const char maps[][4] = {"", "\x0f", "\x0f\x38", "\x0f\x3a"};
	uint8_t start[8];

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		for (size_t k = 0; k < 4; k++) {
			size_t a = strlen(prefixes[i]), b = strlen(maps[k]);

			memcpy(start, prefixes[i], a);
			memcpy(start + a, maps[k], b);
			run_map(start, a + b);
		}
	}
}

static void
run_vex_maps(void)
{
	for (unsigned map = 1; map <= 3; map++) {
		for (unsigned low = 0; low < 8; low++) { /* L, pp */
			for (unsigned w = 0; w < 2; w++) {
				uint8_t none[] = {0xc4, (uint8_t)(0xe0 | map),
				                  (uint8_t)(w << 7 | 0x78 | low)};
				uint8_t some[] = {0xc4, (uint8_t)(map),
				                  (uint8_t)(w << 7 | 0x50 | low)};

				run_map(none, 3);
				run_map(some, 3);
			}
		}
	}
}

static void
run_evex_maps(void)
{
	for (unsigned map = 1; map <= 6; map++) {
		for (unsigned pp = 0; pp < 8; pp++) { /* W, pp */
			for (unsigned last = 0; last < 4; last++) {
				static const uint8_t tail[] = {0x08, 0x48, 0x18, 0x2a};
				uint8_t p1 = (uint8_t)((pp & 4) << 5 | 0x7c | (pp & 3));
				uint8_t none[] = {0x62, (uint8_t)(0xf0 | map), p1, tail[last]};
				uint8_t some[] = {0x62, (uint8_t)(0x50 | map),
				                  (uint8_t)(p1 & ~0x28), tail[last]};

				run_map(none, 4);
				run_map(some, 4);
			}
		}
	}
}

/* Nanoseconds per instruction of st_decode, and st_accesses, over a section, best of three. */
static double
time_section(const uint8_t *p, size_t n, bool accesses, uint64_t *insns)
{
	double best = 1e9;

	for (int round = 0; round < 3; round++) {
		struct timespec a, b;
		struct st_insn x;
		struct st_access found[ST_MAX_ACCESSES];
		uint64_t done = 0;

		clock_gettime(CLOCK_MONOTONIC, &a);
		for (size_t i = 0; i < n; done++) {
			unsigned len = st_decode(p + i, n - i, &x);

			if (len && accesses)
				st_accesses(&x, p + i, found);
			i += len ? len : 1;
		}
		clock_gettime(CLOCK_MONOTONIC, &b);
		if (done) {
			double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 +
			            (double)(b.tv_nsec - a.tv_nsec);

			best = ns / (double)done < best ? ns / (double)done : best;
		}
		*insns = done;
	}
	return best;
}

static void
run_section(const char *file, const uint8_t *p, size_t n, void *arg)
{
	bool timed = *(bool *)arg;
	uint64_t insns;

	for (size_t i = 0; i < n;) {
		unsigned len = check(file, p + i, n - i);

		i += len ? len : 1;
	}
	if (timed && n > 100000) {
		double decode = time_section(p, n, false, &insns);
		double both = time_section(p, n, true, &insns);

		printf("%s: %" PRIu64 " instructions, %.1f ns each, %.1f with accesses\n", file,
		       insns, decode, both);
	}
}

static void
print_slack(void)
{
	for (unsigned i = 0; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++) {
		const struct slack *s = &total.slack[i];

		if (s->gpr_read + s->gpr_written + s->flags_read + s->flags_written + s->mem)
			printf("coarse %-20s of %8" PRIu64 ": read %" PRIu64 " written %" PRIu64
			       " flags read %" PRIu64 " flags written %" PRIu64 " memory %" PRIu64
			       "\n",
			       oracle_mnemonic(i), s->insns, s->gpr_read, s->gpr_written,
			       s->flags_read, s->flags_written, s->mem);
	}
}

static int
usage(void)
{
	fputs("usage: decode_zydis [-n COUNT] [-s SEED] [-e] [-t] [-v] [ELF...]\n", stderr);
	return 2;
}

int
main(int argc, char **argv)
{
	uint64_t count = 2000000, seed = 0x5eed;
	bool exhaustive = false, verbose = false, timed = false, missing = false;
	int c;

	while ((c = getopt(argc, argv, "n:s:etv")) != -1) {
		if (c == 'n')
			count = strtoull(optarg, NULL, 0);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0) | 1;
		else if (c == 'e')
			exhaustive = true;
		else if (c == 't')
			timed = true;
		else if (c == 'v')
			verbose = true;
		else
			return usage();
	}
	run_random(count, seed);
	if (exhaustive) {
		run_legacy_maps();
		run_vex_maps();
		run_evex_maps();
	}
	for (int i = optind; i < argc; i++)
		missing |= !elf_each_text(argv[i], run_section, &timed);
	if (verbose)
		print_slack();
	printf("%" PRIu64 " agree, %" PRIu64 " disagree; Zydis alone accepts %" PRIu64
	       " and %" PRIu64 " XOP; we alone accept %" PRIu64 "; neither %" PRIu64 "\n",
	       total.count[AGREE], total.count[DISAGREE], total.count[ONLY_ZYDIS],
	       total.count[EXEMPT], total.count[ONLY_WE], total.count[NO_INSN]);
	return total.count[DISAGREE] || total.count[ONLY_ZYDIS] || missing || !total.count[AGREE];
}
