/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions and calling contexts of an imported file, on their way into the profile.
 *
 * The files name functions and have no offsets in images, by which profiles know them; so functions
 * get numbers as offsets, in the order of their names.
 */
#ifndef STROBE_IMPORT_FUNCTIONS_H
#define STROBE_IMPORT_FUNCTIONS_H

#include "base/hashmap.h"
#include "base/vec.h"
#include "import/import.h"
#include "profile/profile.h"

/* The image of functions of which the file does not say it. */
#define ST_IMPORT_NO_IMAGE "[unknown]"

struct st_import_function {
	const char *image, *name, *file;
	uint32_t line;
	uint64_t calls, instructions;
	uint64_t samples, samples_total;
	uint64_t seen;   /* number of the last stack that had it */
	uint32_t number; /* in the profile, once it is finished */
};

/* The value of a stack. */
struct st_import_weight {
	uint64_t count, ns, instructions;
};

struct st_import_functions {
	struct st_profile *p;
	ST_VEC(struct st_import_function) v;
	struct st_hashmap by_name;  /* of v */
	struct st_hashmap by_place; /* of p->contexts, whose labels are indices of v meanwhile */
	ST_VEC(uint32_t) stack;     /* that is being built, the outermost call first */
	uint64_t stacks;            /* added so far */
	bool timed, with_instructions;
};

/* The index of a function in f->v, which is added if there is none of this image and name.
 * UINT32_MAX: no memory. The texts are copied; file NULL, line 0: unknown. */
uint32_t st_import_function(struct st_import_functions *f, const char *image, const char *name,
                            const char *file, uint32_t line);
/* The thread of this name and number: its index. UINT32_MAX: no memory. */
uint32_t st_import_thread(struct st_import_functions *f, const char *name, int64_t tid);
/* Adds the stack that was built to a thread, and empties it. */
st_status st_import_stack(struct st_import_functions *f, uint32_t thread,
                          struct st_import_weight weight);
/* Orders functions and puts all into the profile. */
st_status st_import_functions_finish(struct st_import_functions *f);
void st_import_functions_free(struct st_import_functions *f);

#endif
