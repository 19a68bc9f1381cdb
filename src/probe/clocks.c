/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "probe/move.h"

struct named_amount {
	const char *name;
	uint32_t amount;
};

static const struct named_amount clocks[] = {
        {"clock_gettime", ST_CLOCK_GETTIME},
        {"gettimeofday", ST_CLOCK_GETTIMEOFDAY},
        {"time", ST_CLOCK_TIME},
};
/* Of the C library. */
static const struct named_amount deadlines[] = {
        {"clock_nanosleep", ST_DEADLINE_NANOSLEEP},
        {"mq_timedreceive", 4},
        {"mq_timedsend", 4},
        {"syscall", ST_DEADLINE_SYSCALL},
        {"timer_settime", ST_DEADLINE_TIMER},
        {"timerfd_settime", ST_DEADLINE_TIMER},
};
/* Of glibc. Those of musl make a duration of the deadline, by the clock that they read. */
static const struct named_amount glibc_deadlines[] = {
        {"pthread_clockjoin_np", 3},
        {"pthread_cond_clockwait", 3},
        {"pthread_cond_timedwait", 2},
        {"pthread_mutex_clocklock", 2},
        {"pthread_mutex_timedlock", 1},
        {"pthread_rwlock_clockrdlock", 2},
        {"pthread_rwlock_clockwrlock", 2},
        {"pthread_rwlock_timedrdlock", 1},
        {"pthread_rwlock_timedwrlock", 1},
        {"pthread_timedjoin_np", 2},
        {"sem_clockwait", 2},
        {"sem_timedwait", 1},
};

/* A function of an earlier version of the library (NAME@VERSION) calls the current one, whose probe
 * would translate the deadline once more. */
static bool
is_current(const char *raw_name, const char *name, size_t n)
{
	return !strncmp(raw_name, name, n) &&
	       (!raw_name[n] || (raw_name[n] == '@' && raw_name[n + 1] == '@'));
}

static struct st_probe_action
action_named(enum st_probe_kind kind, const struct named_amount *v, size_t n, const char *raw_name)
{
	raw_name += strspn(raw_name, "_");
	raw_name += strncmp(raw_name, "vdso_", 5) ? 0 : 5;
	for (size_t i = 0; i < n; i++)
		if (is_current(raw_name, v[i].name, strlen(v[i].name)))
			return (struct st_probe_action){kind, v[i].amount};
	return (struct st_probe_action){ST_PROBE_NOTHING, 0};
}

bool
st_probe_is_vdso(const struct st_probed_image *image)
{
	return !strcmp(image->path, ST_PROBE_VDSO_PATH);
}

/* The second symbol is in programs that contain the library. */
static bool
is_glibc(struct st_image *image)
{
	return st_image_defines(image, "gnu_get_libc_version") ||
	       st_image_defines(image, "_dl_relocate_static_pie");
}

struct st_probe_action
st_probe_clock_action(const struct st_probes *p, const struct st_probed_image *image,
                      const struct st_function *f)
{
	struct st_probe_action action = {ST_PROBE_NOTHING, 0};
	if (!p->process.hides_pauses || f->source == ST_SYM_PLT)
		return action;
	if (st_probe_is_vdso(image))
		return action_named(ST_PROBE_CLOCK, clocks, sizeof clocks / sizeof *clocks,
		                    f->raw_name);
	action = action_named(ST_PROBE_DEADLINE, deadlines, sizeof deadlines / sizeof *deadlines,
	                      f->raw_name);
	if (!action.kind && is_glibc(image->image))
		action =
		        action_named(ST_PROBE_DEADLINE, glibc_deadlines,
		                     sizeof glibc_deadlines / sizeof *glibc_deadlines, f->raw_name);
	if (action.kind && !st_image_defines(image->image, "__libc_start_main"))
		action.kind = ST_PROBE_NOTHING;
	return action;
}

bool
st_probe_has_clocks(const struct st_probes *p)
{
	for (size_t i = 0; i < p->functions.n; i++) {
		const struct st_probe_action *a = &p->process.area->actions[i];
		if (a->kind == ST_PROBE_CLOCK && a->amount == ST_CLOCK_GETTIME)
			return true;
	}
	return false;
}

/* ---- the time stamp counter ---- */

/* Whether it is rdtsc or rdtscp. */
static bool
is_counter_read(const struct st_insn *in, const uint8_t *bytes)
{
	const uint8_t *code = bytes + in->op_off;
	const bool is_plain =
	        in->op_off && code[-1] == 0x0f && !(in->flags & (ST_I_VEX | ST_I_EVEX));
	return is_plain && (code[0] == 0x31 ||
	                    (code[0] == 0x01 && in->len > in->op_off + 1 && code[1] == 0xf9));
}

static bool
reads_counter(struct st_image *image, const struct st_function *f)
{
	enum { MOST_BYTES = 1 << 20 };
	const size_t size = f->size < MOST_BYTES ? f->size : MOST_BYTES;
	uint8_t *code = malloc(size);
	const size_t n = code ? st_image_bytes(image, f->offset, code, size) : 0;
	struct st_insn in;
	bool reads = false;
	for (size_t at = 0; at < n && !reads; at += in.len) {
		st_decode(code + at, n - at, &in);
		if (!in.len)
			break;
		reads = is_counter_read(&in, code + at);
	}
	free(code);
	return reads;
}

const struct st_function *
st_probe_counter_reader(struct st_image *image)
{
	size_t n = 0;
	const bool has_library = st_image_defines(image, "__libc_start_main");
	const struct st_function *f = has_library ? NULL : st_image_functions(image, &n);
	for (size_t i = 0; f && i < n; i++)
		if (f[i].source != ST_SYM_PLT && reads_counter(image, &f[i]))
			return &f[i];
	return NULL;
}
