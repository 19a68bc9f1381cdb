/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two libraries, one after the other, which the kernel puts at one address. They lie beside the
 * program. */
#include "hazard.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

NOIPA static int
f_loads(const char *folder, const char *name)
{
	char path[4200];
	snprintf(path, sizeof path, "%s/libpaths-%s.so", folder, name);
	void *library = dlopen(path, RTLD_NOW);
	int (*entry)(int);
	if (!library)
		return 1;
	*(void **)&entry = dlsym(library, "f_entry");
	int wrong = !entry || entry(3) != 4;
	return dlclose(library) || wrong;
}

int
main(void)
{
	char folder[4096];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
	if (n < 0)
		return 1;
	folder[n] = '\0';
	*strrchr(folder, '/') = '\0';
	for (int i = 0; i < 3; i++)
		if (f_loads(folder, "one") || f_loads(folder, "two"))
			return 1;
	return 0;
}
