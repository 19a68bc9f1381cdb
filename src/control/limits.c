/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits on memory and files that strobe was started with. They are the program's: strobe itself,
 * and the engine's tables, of which little is used, do without.
 */
#include <sys/resource.h>

#include "control/internal.h"

static const struct {
	__rlimit_resource_t resource;
	const char *name;
} limited[] = {{RLIMIT_AS, "address space (ulimit -v)"},
               {RLIMIT_DATA, "data (ulimit -d)"},
               {RLIMIT_FSIZE, "file sizes (ulimit -f)"},
               {RLIMIT_NOFILE, "descriptors (ulimit -n)"}};
enum { LIMITS = sizeof limited / sizeof *limited };
static struct rlimit given[LIMITS];

/* Lifts a limit as far as we may; what it was is left in *was. */
static void
lift(pid_t pid, unsigned i, struct rlimit *was)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	*was = none;
	if (prlimit(pid, limited[i].resource, NULL, was) != 0 || was->rlim_cur == RLIM_INFINITY)
		return;
	const struct rlimit most = {was->rlim_max, was->rlim_max};
	if (limited[i].resource == RLIMIT_NOFILE) { /* which cannot be without one */
		prlimit(pid, RLIMIT_NOFILE, &most, NULL);
		return;
	}
	if (prlimit(pid, limited[i].resource, &none, NULL) != 0)
		prlimit(pid, limited[i].resource, &most, NULL);
}

void
st_limits_lift(void)
{
	for (unsigned i = 0; i < LIMITS; i++)
		lift(0, i, &given[i]);
}

void
st_limits_restore(void)
{
	for (unsigned i = 0; i < LIMITS; i++)
		setrlimit(limited[i].resource, &given[i]);
}

void
st_limits_of(pid_t pid, uint64_t limits[2][2])
{
	for (unsigned i = 0; i < 2; i++) {
		struct rlimit is;
		if (prlimit(pid, limited[i].resource, NULL, &is) != 0 ||
		    is.rlim_cur == RLIM_INFINITY)
			continue;
		limits[i][0] = is.rlim_cur;
		limits[i][1] = is.rlim_max;
	}
}

void
st_limits_lift_of(pid_t pid)
{
	struct rlimit was;
	for (unsigned i = 0; i < 2; i++)
		lift(pid, i, &was);
}

void
st_limits_return_to(pid_t pid, uint64_t limits[2][2])
{
	for (unsigned i = 0; i < 2; i++) {
		const struct rlimit was = {limits[i][0], limits[i][1]};
		if (was.rlim_cur)
			prlimit(pid, limited[i].resource, &was, NULL);
	}
}

void
st_limits_return_with(pid_t pid, uint64_t limits[2][2], const uint64_t more[2])
{
	uint64_t wider[2][2];
	for (unsigned i = 0; i < 2; i++) {
		const bool fits = limits[i][0] && limits[i][0] + more[i] > more[i];
		wider[i][0] = fits ? limits[i][0] + more[i] : limits[i][0];
		wider[i][1] = wider[i][0] > limits[i][1] ? wider[i][0] : limits[i][1];
	}
	st_limits_return_to(pid, wider);
}

const char *
st_limits_in_the_way(uint64_t least)
{
	for (unsigned i = 0; i < LIMITS; i++) {
		struct rlimit now;
		if (limited[i].resource != RLIMIT_NOFILE &&
		    getrlimit(limited[i].resource, &now) == 0 && now.rlim_cur < least)
			return limited[i].name;
	}
	return NULL;
}
