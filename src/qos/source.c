/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qos/source.h"

#include <string.h>

const struct st_qos_kind *const st_qos_kinds[] = {
        &st_qos_command, &st_qos_file,       &st_qos_rate,  &st_qos_growth, &st_qos_http,
        &st_qos_redis,   &st_qos_postgresql, &st_qos_mysql, &st_qos_slot,   NULL};

const struct st_qos_kind *
st_qos_kind_of(const char *source, const char **rest)
{
	const size_t n = strcspn(source, ":");
	*rest = source + n + (source[n] == ':');
	for (size_t i = 0; st_qos_kinds[i] && source[n]; i++)
		if (strlen(st_qos_kinds[i]->name) == n &&
		    !strncmp(st_qos_kinds[i]->name, source, n))
			return st_qos_kinds[i];
	return NULL;
}
