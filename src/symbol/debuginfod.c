/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug files from servers, through the library of elfutils. It is loaded only when the user asks,
 * so nothing depends on it, and without the question nothing touches the network.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/internal.h"

struct debuginfod_client;

static struct {
	struct debuginfod_client *client; /* NULL: not asked for */
	int (*find)(struct debuginfod_client *client, const unsigned char *id, int id_length,
	            char **path);
	char problem[256]; /* not empty: servers are no longer asked */
} servers;

static st_status
debuginfod_begin(void *library, struct st_error *e)
{
	struct debuginfod_client *(*make_client)(void);
	*(void **)&make_client = dlsym(library, "debuginfod_begin");
	*(void **)&servers.find = dlsym(library, "debuginfod_find_debuginfo");
	if (make_client && servers.find)
		servers.client = make_client();
	if (servers.client)
		return 0;
	return st_fail(e, ST_EXIT_FAILED, "--debuginfod: libdebuginfod.so.1 cannot be used");
}

st_status
st_debuginfod_enable(struct st_error *e)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	if (servers.client)
		return 0;
	if (!urls || !urls[strspn(urls, " ")])
		return st_fail(e, ST_EXIT_FAILED,
		               "--debuginfod: DEBUGINFOD_URLS names no server; for Debian's "
		               "packages set it to https://debuginfod.debian.net");
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return st_fail(e, ST_EXIT_FAILED,
		               "--debuginfod: libdebuginfod.so.1 is not installed (Debian's "
		               "package libdebuginfod1)");
	return debuginfod_begin(library, e);
}

const char *
st_debuginfod_problem(void)
{
	return servers.problem[0] ? servers.problem : NULL;
}

bool
sym_debuginfod_find(const char *build_id, char **path)
{
	*path = NULL;
	if (!servers.client || servers.problem[0])
		return false;
	int fd = servers.find(servers.client, (const unsigned char *)build_id, 0, path);
	if (fd >= 0) {
		close(fd);
		return *path != NULL;
	}
	/* If no server answers, waiting for each of a hundred images would not help. */
	if (fd != -ENOENT)
		snprintf(servers.problem, sizeof servers.problem,
		         "debuginfod: strobe stopped asking the servers for debug files after one "
		         "request failed: %s",
		         strerror(-fd));
	return false;
}
