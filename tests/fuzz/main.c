/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * insnfuzz: runs random instruction sequences and prints one line for each: index, hash of
 * everything a program could see, number of signals. The lines depend on the seed, the corpus and
 * the CPU model only, so a run under an engine must print what a native run prints. fuzz.py
 * compares the two.
 */
#include "cover.h"
#include "dump.h"

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct fz_options options = {.seed = 1, .max_units = FZ_MAX_UNITS, .kinds = UINT32_MAX};
static struct fz_corpus corpus;
static struct fz_gen gen;
static struct fz_result result;
static uint64_t *indices;
static size_t nindices;
static uint64_t from, count = 1000;
static uint8_t selection[FZ_MAX_UNITS];
static bool selecting, verbose, list_only, units_only, low, coverage, flush;
static const char *regions, *progress_path;
static volatile uint64_t *progress;

enum {
	OPT_SEED = 256,
	OPT_COUNT,
	OPT_FROM,
	OPT_INDEX,
	OPT_ONLY,
	OPT_CORPUS,
	OPT_ISA,
	OPT_LOW,
	OPT_REGIONS,
	OPT_UNITS,
	OPT_VERBOSE,
	OPT_LIST,
	OPT_COVERAGE,
	OPT_PROGRESS,
	OPT_NO_FS,
	OPT_NO_SMC,
	OPT_NO_SYSCALLS,
	OPT_NO_FAULTS,
	OPT_NO_RWX,
	OPT_REPEAT,
	OPT_FLUSH,
	OPT_SHOW_UNITS,
	OPT_KINDS,
	OPT_LOOSE,
};

static const struct option long_options[] = {
        {"seed", required_argument, NULL, OPT_SEED},
        {"count", required_argument, NULL, OPT_COUNT},
        {"from", required_argument, NULL, OPT_FROM},
        {"index", required_argument, NULL, OPT_INDEX},
        {"only", required_argument, NULL, OPT_ONLY},
        {"corpus", required_argument, NULL, OPT_CORPUS},
        {"isa", required_argument, NULL, OPT_ISA},
        {"low", no_argument, NULL, OPT_LOW},
        {"regions", required_argument, NULL, OPT_REGIONS},
        {"max-units", required_argument, NULL, OPT_UNITS},
        {"verbose", no_argument, NULL, OPT_VERBOSE},
        {"list", no_argument, NULL, OPT_LIST},
        {"units", no_argument, NULL, OPT_SHOW_UNITS},
        {"coverage", no_argument, NULL, OPT_COVERAGE},
        {"progress", required_argument, NULL, OPT_PROGRESS},
        {"no-fs", no_argument, NULL, OPT_NO_FS},
        {"no-smc", no_argument, NULL, OPT_NO_SMC},
        {"no-syscalls", no_argument, NULL, OPT_NO_SYSCALLS},
        {"no-faults", no_argument, NULL, OPT_NO_FAULTS},
        {"no-rwx", no_argument, NULL, OPT_NO_RWX},
        {"repeat", required_argument, NULL, OPT_REPEAT},
        {"flush", no_argument, NULL, OPT_FLUSH},
        {"loose-signals", no_argument, NULL, OPT_LOOSE},
        {"kinds", required_argument, NULL, OPT_KINDS},
        {0},
};

static void
usage(void)
{
	fprintf(stderr,
	        "usage: insnfuzz [--seed N] [--from N --count N | --index N,N,...] [--corpus FILE] "
	        "[options]\n"
	        "  --only N,N,...    of each sequence, only these units (see --units)\n"
	        "  --isa all|avx2    which instructions (all)\n"
	        "  --low             all memory below 4 GiB; --regions low,mid,near,far,high: "
	        "where code may be\n"
	        "  --max-units N     the longest sequence; --kinds a,b,...: only these kinds of "
	        "units\n"
	        "  --no-fs --no-smc --no-syscalls --no-faults --no-rwx: leave something out\n"
	        "  --repeat N        run each sequence N times, instead of as often as it wants\n"
	        "  --loose-signals   end at the first fault; of it, compare only what and where it "
	        "was\n"
	        "  --verbose         code, registers and memory; --list: code only, nothing runs\n"
	        "  --units           print the number of units of each sequence, nothing runs\n"
	        "  --coverage        single-step natively and list the mnemonics that were "
	        "executed\n"
	        "  --progress FILE   keep the index of the running sequence in FILE; --flush: each "
	        "line at once\n");
}

static void
parse_list(const char *text, void (*add)(uint64_t))
{
	while (*text) {
		char *end;
		uint64_t v = strtoull(text, &end, 0);

		if (end == text) {
			fprintf(stderr, "insnfuzz: '%s' is not a list of numbers\n", text);
			exit(2);
		}
		add(v);
		text = *end ? end + 1 : end;
	}
}

static void
add_index(uint64_t v)
{
	indices = realloc(indices, (nindices + 1) * sizeof *indices);
	if (!indices)
		exit(1);
	indices[nindices++] = v;
}

static void
add_unit(uint64_t v)
{
	if (v < FZ_MAX_UNITS)
		selection[v] = 1;
}

static void
parse_kinds(const char *text)
{
	options.kinds = 0;
	for (const char *p = text; p; p = strchr(p, ',')) {
		p += *p == ',';
		size_t n = strcspn(p, ",");

		for (unsigned k = 0; k < FZ_NKINDS; k++)
			if (strlen(fz_unit_name(k)) == n && memcmp(p, fz_unit_name(k), n) == 0)
				options.kinds |= 1u << k;
	}
	if (!options.kinds) {
		fprintf(stderr, "insnfuzz: no unit kind in '%s'; the kinds are", text);
		for (unsigned k = 0; k < FZ_NKINDS; k++)
			fprintf(stderr, " %s", fz_unit_name(k));
		fprintf(stderr, "\n");
		exit(2);
	}
}

static int
parse_option(int c)
{
	switch (c) {
	case OPT_SEED:
		options.seed = strtoull(optarg, NULL, 0);
		break;
	case OPT_COUNT:
		count = strtoull(optarg, NULL, 0);
		break;
	case OPT_FROM:
		from = strtoull(optarg, NULL, 0);
		break;
	case OPT_INDEX:
		parse_list(optarg, add_index);
		break;
	case OPT_ONLY:
		selecting = true;
		parse_list(optarg, add_unit);
		break;
	case OPT_CORPUS:
		options.corpus = &corpus;
		return fz_corpus_load(&corpus, optarg);
	case OPT_ISA:
		options.isa = strcmp(optarg, "avx2") == 0 ? FZ_ISA_AVX2 : FZ_ISA_ALL;
		break;
	case OPT_LOW:
		low = true;
		break;
	case OPT_REGIONS:
		regions = optarg;
		break;
	case OPT_UNITS:
		options.max_units = (unsigned)strtoul(optarg, NULL, 0);
		break;
	case OPT_VERBOSE:
		verbose = true;
		break;
	case OPT_LIST:
		list_only = true;
		break;
	case OPT_SHOW_UNITS:
		units_only = true;
		break;
	case OPT_COVERAGE:
		coverage = true;
		break;
	case OPT_PROGRESS:
		progress_path = optarg;
		break;
	case OPT_NO_FS:
		options.no_fs = true;
		break;
	case OPT_NO_SMC:
		options.no_smc = true;
		break;
	case OPT_NO_SYSCALLS:
		options.no_syscalls = true;
		break;
	case OPT_NO_FAULTS:
		options.no_faults = true;
		break;
	case OPT_NO_RWX:
		options.no_rwx = true;
		break;
	case OPT_REPEAT:
		options.repeat = (int)strtoul(optarg, NULL, 0);
		break;
	case OPT_LOOSE:
		options.loose_signals = true;
		break;
	case OPT_FLUSH:
		flush = true;
		break;
	case OPT_KINDS:
		parse_kinds(optarg);
		break;
	default:
		usage();
		return -1;
	}
	return 0;
}

static int
open_progress(void)
{
	int fd = open(progress_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, 8) != 0)
		return -1;
	void *p = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (p == MAP_FAILED)
		return -1;
	progress = p;
	return 0;
}

static int
run_one(uint64_t index)
{
	uint64_t h = 0;
	unsigned signals = 0;

	fz_generate(&gen, &options, index, selecting ? selection : NULL);
	if (units_only) {
		printf("%" PRIu64 " %u\n", index, gen.nunits);
		return 0;
	}
	if (verbose || list_only)
		fz_dump_code(&gen);
	if (list_only)
		return 0;
	if (progress)
		*progress = index;
	if (fz_place(&gen) != 0) {
		fprintf(stderr, "insnfuzz: cannot place sequence %" PRIu64 "; out of memory?\n",
		        index);
		return -1;
	}
	for (unsigned round = 0; round < (coverage ? 1 : gen.repeat); round++) {
		if (coverage)
			fz_cover_begin(&gen);
		fz_run(&gen, round, &result);
		signals += result.nfaults;
		h = fz_mix(h + fz_hash(&gen, &result));
		if (verbose)
			fz_dump_result(&gen, round, &result);
	}
	if (!coverage)
		printf("%" PRIu64 " %016" PRIx64 " %u\n", index, h, signals);
	if (flush)
		fflush(stdout);
	return 0;
}

int
main(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (parse_option(c) != 0)
			return 2;
	if (options.max_units < 1 || options.max_units > FZ_MAX_UNITS)
		options.max_units = FZ_MAX_UNITS;
	if (progress_path && open_progress() != 0) {
		fprintf(stderr, "insnfuzz: cannot write the progress file %s\n", progress_path);
		return 1;
	}
	if (fz_arena_map(regions, low) != 0 || fz_machine_init(options.isa) != 0)
		return 1;
	if (coverage)
		fz_cover_start();
	for (size_t i = 0; i < nindices; i++)
		if (run_one(indices[i]) != 0)
			return 1;
	for (uint64_t i = from; nindices == 0 && i < from + count; i++)
		if (run_one(i) != 0)
			return 1;
	if (coverage)
		fz_cover_print(options.corpus, options.isa);
	free(indices);
	if (options.corpus)
		fz_corpus_free(&corpus);
	return 0;
}
