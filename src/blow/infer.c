/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/infer.h"

#include <string.h>

#include "base/text.h"

/* Calls in the selection that make a rate. With fewer, one call more or less is more than a
 * percent. */
enum { LEAST_CALLS = 100, LEAST_TRANSFERS = 20 };
/* Calls per second above which the probe itself takes more than about a fifth of a percent. */
static const double most_rate = 20000;
/* A function with more of the time than that is one to be tried. */
static const double most_share = 0.02;

bool
st_blow_is_transfer(const char *image, const char *name)
{
	static const char *const names[] = {
	        "read",       "write",  "readv",   "writev",   "pread64",  "pwrite64", "pread",
	        "pwrite",     "preadv", "pwritev", "recv",     "recvfrom", "recvmsg",  "recvmmsg",
	        "send",       "sendto", "sendmsg", "sendmmsg", "accept",   "accept4",  "sendfile",
	        "sendfile64", "splice", "fsync",   "fdatasync"};
	if (strncmp(st_base_name(image), "libc.so", 7) != 0 &&
	    strncmp(st_base_name(image), "libpthread", 10) != 0)
		return false;
	if (!strncmp(name, "__libc_", 7))
		name += 7;
	while (*name == '_')
		name++;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool
is_point_measured(const struct st_blow_function *f, const struct st_blow_points *p)
{
	return st_blow_is_function(f) && !f->why && f->calls && !(f->traits & ST_BLOW_IS_PART) &&
	       st_blow_points_function(p, f->name, f->raw_name) == ST_BLOW_NO_POINT;
}

/* Whether a rate of the function's calls costs little, and says little of its own time. */
static bool
is_candidate(const struct st_blow_function *f, double seconds, bool named)
{
	return !st_blow_is_transfer(f->image, f->name) && f->calls >= LEAST_CALLS &&
	       (double)f->calls <= most_rate * seconds && (!named || f->traits & ST_BLOW_IS_CALLER);
}

static bool
is_short(const struct st_blow_function *f, double seconds)
{
	return (double)f->ns * 1e-9 <= most_share * seconds;
}

size_t
st_blow_infer(struct st_blow *b, const struct st_blow_points *p, double seconds, bool named)
{
	struct st_blow_function *hot = NULL, *transfer = NULL;
	for (size_t i = 0; i < b->functions.n; i++) {
		struct st_blow_function *f = &b->functions.v[i];
		if (!is_point_measured(f, p))
			continue;
		if (st_blow_is_transfer(f->image, f->name) && f->calls >= LEAST_TRANSFERS &&
		    (!transfer || f->calls > transfer->calls))
			transfer = f;
		if (!is_candidate(f, seconds, named))
			continue;
		const bool is_shorter = hot && is_short(f, seconds) && !is_short(hot, seconds),
		           is_longer = hot && !is_short(f, seconds) && is_short(hot, seconds);
		if (!hot || is_shorter || (!is_longer && f->calls > hot->calls))
			hot = f;
	}
	if (hot)
		hot->traits |= ST_BLOW_IS_INFERRED;
	if (transfer)
		transfer->traits |= ST_BLOW_IS_INFERRED;
	return (hot != NULL) + (transfer != NULL);
}
