/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads libpq. */
#include "store/libpq.h"

#include <dlfcn.h>
#include <stdbool.h>

#define LIBPQ_FILE "libpq.so.5"

static bool
libpq_find(void *library, struct st_libpq *pq)
{
	bool all = true;
#define FIND(name)                                                                                 \
	*(void **)&pq->name = dlsym(library, "PQ" #name);                                          \
	all &= pq->name != NULL;
	ST_LIBPQ(FIND)
#undef FIND
	return all;
}

const struct st_libpq *
st_libpq(struct st_error *e)
{
	static struct st_libpq pq;
	static bool loaded;
	if (loaded)
		return &pq;
	void *library = dlopen(LIBPQ_FILE, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		st_cause(e, ST_EXIT_FAILED,
		         "%s, the client library of PostgreSQL, is not installed: install it "
		         "(Debian: libpq5)",
		         LIBPQ_FILE);
	else if (!libpq_find(library, &pq))
		st_cause(e, ST_EXIT_FAILED, "%s cannot be used: install another build of it",
		         LIBPQ_FILE);
	else
		loaded = true;
	return loaded ? &pq : NULL;
}
