/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Static probes among what is traced. */
#ifndef STROBE_EBPF_USDT_H
#define STROBE_EBPF_USDT_H

#include "ebpf/choose.h"

/* Adds the static probes of an image that the request chooses. */
void st_ebpf_choose_static(struct st_ebpf_choice *c, uint32_t image);

#endif
