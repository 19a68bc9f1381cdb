/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qos/source.h"

const struct st_qos_kind *const st_qos_kinds[] = {
        &st_qos_command, &st_qos_file,       &st_qos_rate,  &st_qos_growth, &st_qos_http,
        &st_qos_redis,   &st_qos_postgresql, &st_qos_mysql, &st_qos_slot,   NULL};
