/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of the control groups that this process is in, version 1 and 2; the tightest on the way to
 * the root counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor.h"

enum { PATH_SIZE = 2048 };

/* Whether a comma-separated list holds a word. */
static bool
lists(const char *list, size_t length, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = list; at < list + length;) {
		size_t each = strcspn(at, ",:");
		if (each == n && !strncmp(at, word, n))
			return true;
		at += each + 1;
	}
	return false;
}

/* The group of this process under a version 1 controller, or under version 2 (controller ""). */
static bool
group_of(const char *root, const char *controller, char path[PATH_SIZE])
{
	char text[8192];
	if (!st_read_file(root, "/proc/self/cgroup", text, sizeof text))
		return false;
	char *rest = text, *line;
	while ((line = strsep(&rest, "\n"))) {
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		controllers++;
		size_t length = (size_t)(group - controllers);
		bool match = *controller ? lists(controllers, length, controller) : length == 0;
		if (match) {
			snprintf(path, PATH_SIZE, "%s", group + 1);
			return true;
		}
	}
	return false;
}

/* One step up; false at the top. */
static bool
parent(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash || !path[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* Reads `file` of a group: of its own directory, whose path may not show in a container, and so of
 * its parents'. */
static bool
read_limit(const char *root, const char *mount, const char *group, const char *file, char *text,
           size_t size)
{
	char path[2 * PATH_SIZE];
	snprintf(path, sizeof path, "/sys/fs/cgroup%s%s/%s", mount, strcmp(group, "/") ? group : "",
	         file);
	return st_read_file(root, path, text, size);
}

double
st_cgroup_cpus(const char *root)
{
	char group[PATH_SIZE], text[128];
	double least = 0;
	if (group_of(root, "", group))
		do {
			double quota, period;
			if (read_limit(root, "", group, "cpu.max", text, sizeof text) &&
			    sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 &&
			    (!(least > 0) || quota / period < least))
				least = quota / period;
		} while (parent(group));
	if (group_of(root, "cpu", group))
		do {
			double quota = -1, period = 100000;
			if (read_limit(root, "/cpu", group, "cpu.cfs_quota_us", text, sizeof text))
				quota = strtod(text, NULL);
			if (read_limit(root, "/cpu", group, "cpu.cfs_period_us", text, sizeof text))
				period = strtod(text, NULL);
			if (quota > 0 && period > 0 && (!(least > 0) || quota / period < least))
				least = quota / period;
		} while (parent(group));
	return least;
}

uint64_t
st_cgroup_memory(const char *root)
{
	const uint64_t unlimited = 1ull
	                           << 60; /* version 1 says "no limit" with a very large number */
	char group[PATH_SIZE], text[128];
	uint64_t least = 0;
	static const char *const where[][3] = {{"", "", "memory.max"},
	                                       {"memory", "/memory", "memory.limit_in_bytes"}};
	for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
		if (!group_of(root, where[i][0], group))
			continue;
		do {
			uint64_t limit = 0;
			if (read_limit(root, where[i][1], group, where[i][2], text, sizeof text))
				limit = strtoull(text, NULL, 10); /* "max" becomes 0 */
			if (limit && limit < unlimited && (!least || limit < least))
				least = limit;
		} while (parent(group));
	}
	return least;
}
