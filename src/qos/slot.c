/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shm:NAME: a slot of shared memory that the program writes: include/strobe/qos.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strobe/qos.h>

#include "qos/source.h"

struct slot {
	char path[128];
	int fd;
	bool made; /* by us: it goes with us */
	uint64_t sets;
	struct st_qos_growing count;
};

static bool
slot_is_name(const char *text)
{
	enum { LONGEST = 64 };
	size_t n = strlen(text);
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
			return false;
	return n > 0 && n <= LONGEST;
}

static bool
begin_slot(struct slot *s)
{
	struct strobe_qos_slot first = {.magic = STROBE_QOS_MAGIC};
	struct stat st;
	s->fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	s->made = s->fd >= 0;
	if (s->made)
		return pwrite(s->fd, &first, sizeof first, 0) == sizeof first;
	s->fd = errno == EEXIST ? open(s->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	if (s->fd < 0)
		return false;
	errno = EPERM;
	if (fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return false;
	/* The value left by an earlier run is not a new reading. */
	if (pread(s->fd, &first, sizeof first, 0) == sizeof first)
		s->sets = first.sets;
	return true;
}

static void
slot_close(void *source)
{
	struct slot *s = source;
	if (s->fd >= 0)
		close(s->fd);
	if (s->made)
		unlink(s->path);
	free(s);
}

static void *
slot_open(const char *text, struct st_error *e)
{
	if (!slot_is_name(text)) {
		st_cause(e, ST_EXIT_USAGE,
		         "--qos takes shm:NAME, up to 64 letters, digits, '-', '_' and '.', not "
		         "'shm:%s'",
		         text);
		return NULL;
	}
	struct slot *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	snprintf(s->path, sizeof s->path, "/dev/shm/strobe-qos.%s", text);
	if (begin_slot(s))
		return s;
	st_cause(e, ST_EXIT_FAILED, "--qos shm:%s: %s cannot be made: %s", text, s->path,
	         strerror(errno));
	slot_close(s);
	return NULL;
}

/* Read, not mapped: others may make the file shorter. */
static enum st_qos_got
slot_poll(void *source, struct st_qos_poll *p)
{
	struct slot *s = source;
	struct strobe_qos_slot now;
	if (pread(s->fd, &now, sizeof now, 0) != sizeof now || now.magic != STROBE_QOS_MAGIC)
		return st_qos_failed(p, "%s is not a slot any more", s->path);
	if (now.sets != s->sets) {
		s->sets = now.sets;
		memcpy(&p->value, &now.value, sizeof p->value);
		return p->value >= 0 && p->value < 1e300
		               ? ST_QOS_VALUE
		               : st_qos_failed(p, "the program wrote no number that is 0 or more");
	}
	if (now.count && st_qos_grown(&s->count, (double)now.count, p->now, &p->value))
		return ST_QOS_VALUE;
	return st_qos_nothing(p, "the program writes nothing there");
}

const struct st_qos_kind st_qos_slot = {"shm",      "shm:NAME", slot_open, slot_poll,
                                        slot_close, NULL,       NULL};
