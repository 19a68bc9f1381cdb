/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the entry of a function takes a probe, judged from the bytes of its image alone.
 *
 * The first bytes of the function become a jump to a stub, which has the instructions that stood
 * there (stub.h). A jump of five bytes is the rule. Where the function is shorter, or a jump leads
 * into these five, two bytes are enough for a short jump to an island: five bytes of padding
 * between functions nearby, with the jump to the stub. A function that has space for neither is
 * refused, with the reason.
 */
#ifndef STROBE_PROBE_SITE_H
#define STROBE_PROBE_SITE_H

#include "probe/roles.h"
#include "symbol/symbol.h"

/* Name, and what is said of a function: "NAME takes no probe: ...". */
#define ST_PROBE_REFUSALS(X)                                                                       \
	X(NONE, "")                                                                                \
	X(SHORT, "it is too short for a jump, and there is no padding near it")                    \
	X(ENTERED, "something may jump into its first bytes")                                      \
	X(UNMOVABLE, "one of its first instructions works only where it stands")                   \
	X(UNDECODABLE, "its first bytes are no instructions of one function")                      \
	X(NO_ENTRY, "its unwind information says that no function begins there")                   \
	X(IFUNC, "it chooses the code of a function while the program is linked")                  \
	X(NAME, "it cannot take one by what it does")                                              \
	X(LINKER, "it is part of the dynamic linker")                                              \
	X(VDSO, "the kernel made it (vDSO)")                                                       \
	X(PLT, "it is the linker's way to a function of another image (PLT)")                      \
	X(DATA, "the function's code cannot be told from data")                                    \
	X(JUMPS, "an indirect jump of the function may lead to any of its instructions")           \
	X(DIRECTION, "the function changes the direction flag")                                    \
	X(MIDDLE, "no instruction of the function begins there")                                   \
	X(CLAIMED, "another probe has these bytes")                                                \
	X(MEMORY, "strobe has no memory left")

enum st_probe_refusal {
#define X(name, text) ST_REFUSAL_##name,
	ST_PROBE_REFUSALS(X)
#undef X
	        ST_REFUSALS
};

enum st_probe_way {
	ST_PROBE_JUMP,   /* five bytes: the jump to the stub */
	ST_PROBE_ISLAND, /* two bytes: a jump to the island, where the jump to the stub is */
};

enum {
	ST_PROBE_BYTES = 32,     /* of the function that a site keeps */
	ST_PROBE_MOST_INSNS = 5, /* that a probe displaces */
	ST_PROBE_JUMP_LENGTH = 5,
	ST_PROBE_SHORT_LENGTH = 2,
};

/*
 * A site whose refusal is not ST_REFUSAL_NONE is to be left alone; at, size and role are true then,
 * too. Addresses are link-time addresses, as everywhere in symbol.h.
 */
struct st_probe_site {
	uint64_t at;
	uint64_t size;     /* of the function, from `at` on */
	uint64_t island;   /* ST_PROBE_ISLAND: where it is */
	uint8_t refusal;   /* enum st_probe_refusal */
	uint8_t way;       /* enum st_probe_way */
	uint8_t displaced; /* bytes of whole instructions that move to the stub. Fewer than the
	                      jump has where padding follows the function's end */
	uint8_t patched;   /* bytes that are overwritten at `at` */
	uint8_t insns;     /* displaced instructions */
	bool ends;         /* the last of them goes nowhere but where it jumps or returns to */
	bool inside;       /* it is a point within a function (points.h), not its entry */
	bool loops;        /* a jump of the function leads back to its entry: not a call. The stack
	                      pointer is what it was at the entry */
	uint8_t exits;     /* bit i: the i-th displaced instruction leaves the function. Known
	                      when st_probe_find_exits has been asked (exits.h) */
	struct st_probe_role_of role;
	uint8_t bytes[ST_PROBE_BYTES];              /* of the image at `at` */
	uint8_t under_island[ST_PROBE_JUMP_LENGTH]; /* and at the island */
};

struct st_probe_planner;

/* Reads all code of the image, which must outlive the planner. NULL: no memory, or the image has no
 * code. */
struct st_probe_planner *st_probe_planner_new(struct st_image *image);
void st_probe_planner_free(struct st_probe_planner *planner);

/* The vDSO takes probes, too. */
void st_probe_planner_admit(struct st_probe_planner *planner);

/* Whether code of the image reads return addresses of other images' functions, too: none of the
 * process may be replaced. */
bool st_probe_planner_forbids(const struct st_probe_planner *planner);

/* Judges one function. An island stays the site's as long as the planner lives, so a function is to
 * be judged once. */
void st_probe_judge(struct st_probe_planner *planner, const struct st_function *f,
                    struct st_probe_site *site);

/* The sentence's end of a refusal: "it is too short ..."; of ST_REFUSAL_NAME what the name says. */
const char *st_probe_refusal_text(const struct st_probe_site *site);

#endif
