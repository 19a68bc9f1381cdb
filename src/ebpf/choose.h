/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions get probes: chosen by their symbols before the program runs, and again for each
 * library that it loads later. */
#ifndef STROBE_EBPF_CHOOSE_H
#define STROBE_EBPF_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/vec.h"
#include "trace/aggregate.h"
#include "trace/engine.h"

struct st_image;
struct st_trace_chooser;

/* A file whose functions are looked at. */
struct st_ebpf_image {
	char *path; /* as the program's mappings have it */
	char *file; /* by which strobe reaches it */
	struct st_image *image;
};

enum st_ebpf_role {
	ST_EBPF_FUNCTION,
	ST_EBPF_SINGLE, /* a static probe, of no duration */
	ST_EBPF_BEGIN,  /* of a pair of static probes */
	ST_EBPF_END_OF_PAIR,
};

struct st_ebpf_probe {
	uint32_t image, function; /* function: its number in the aggregate */
	uint64_t offset, in_file; /* link-time address; in the file */
	uint64_t semaphore;       /* in the file; 0: none */
	enum st_ebpf_role role;
	const char *name;
	bool is_stepped, is_refused;
	bool by_instructions; /* that leave it its returns are seen, */
	bool jumps_to_itself; /* and it is known whether it does that */
};

/* An instruction that leaves a function. */
struct st_ebpf_exit {
	uint32_t image, probe;
	uint64_t in_file;
};

struct st_ebpf_choice {
	const struct st_trace_request *request;
	struct st_trace_chooser *chooser;
	struct st_trace_aggregate *to; /* where functions are declared */
	pid_t pid;                     /* whose files they are; 0: our own */
	ST_VEC(struct st_ebpf_image) images;
	ST_VEC(struct st_ebpf_probe) probes; /* by image, in the order of offsets */
	ST_VEC(struct st_trace_refused) refused;
	ST_VEC(char *) names; /* of static probes */
	/* Somebody reads return addresses: exceptions, coroutines. The kernel's probes of returns
	 * replace them, so that the instructions are probed that leave functions. */
	bool by_instructions;
	ST_VEC(struct st_ebpf_exit) exits; /* as probes are */
	struct st_trace_limits limits;
	bool no_memory;
};

/* Does the file read return addresses, or does what it is there for? The program's own file, by
 * what it imports, others by their names. */
bool st_ebpf_reads_returns(struct st_ebpf_choice *c, const char *path, bool is_program);
/* Looks at the functions of a file that has not been looked at: their probes are the last ones
 * then. */
void st_ebpf_choose(struct st_ebpf_choice *c, const char *path);
void st_ebpf_choice_free(struct st_ebpf_choice *c);

#endif
