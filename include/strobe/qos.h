/* SPDX-License-Identifier: MIT */
/*
 * For programs that say themselves how well they serve:
 *
 *	#include <strobe/qos.h>
 *
 *	static struct strobe_qos served = STROBE_QOS("requests");
 *
 *	strobe_qos_count(&served, 1);       after each request, by any thread; or
 *	strobe_qos_set(&served, latency);   now and then
 *
 * `strobe run --qos shm:requests --qos-min 3000`, or `strobe attach`, then measures no more than
 * leaves 3000 requests per second. Each sixteenth call looks whether a second has passed since
 * strobe was last looked for, and if so looks for it (one `open`). Nothing has to be linked. A slot
 * belongs to its user: programs of others do not see it.
 */
#ifndef STROBE_QOS_H
#define STROBE_QOS_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What lies in the shared memory /dev/shm/strobe-qos.NAME, which strobe makes. */
struct strobe_qos_slot {
	uint64_t magic; /* STROBE_QOS_MAGIC */
	uint64_t count; /* of what strobe_qos_count was told */
	uint64_t sets;  /* times that the value was set */
	uint64_t value; /* the bits of a double */
};
#define STROBE_QOS_MAGIC 0x31736f7165727473ull /* "streqos1" */

struct strobe_qos {
	const char *name;
	struct strobe_qos_slot *slot; /* NULL: strobe has not been there yet */
	uint64_t file;                /* that it lies in */
	int64_t looked;               /* the second in which strobe was looked for last */
	unsigned calls;
};
#define STROBE_QOS(name)                                                                           \
	{                                                                                          \
		(name), 0, 0, 0, 0                                                                 \
	}

/* Maps the file, in the place of the one before: other threads may be writing there. */
static inline void
strobe_qos_map(struct strobe_qos *q, int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || !S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof *q->slot || (q->slot && q->file == st.st_ino))
		return;
	void *p = mmap(q->slot, sizeof *q->slot, PROT_READ | PROT_WRITE,
	               q->slot ? MAP_SHARED | MAP_FIXED : MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return;
	q->file = st.st_ino;
	__atomic_store_n(&q->slot, (struct strobe_qos_slot *)p, __ATOMIC_RELEASE);
}

/* errno is the program's. */
static inline void
strobe_qos_look(struct strobe_qos *q)
{
	char path[128] = "/dev/shm/strobe-qos.";
	int error = errno;
	strncat(path, q->name, sizeof path - strlen(path) - 1);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0) {
		strobe_qos_map(q, fd);
		close(fd);
	}
	errno = error;
}

/* Looks for strobe once in a second. Calls are counted without a lock: what threads count at the
 * same time may be counted once, but no sixteenth is left out. */
static inline void
strobe_qos_find(struct strobe_qos *q)
{
	struct timespec now;
	unsigned calls = __atomic_load_n(&q->calls, __ATOMIC_RELAXED);
	__atomic_store_n(&q->calls, calls + 1, __ATOMIC_RELAXED);
	if (calls % 16 == 0 && clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0 &&
	    __atomic_exchange_n(&q->looked, now.tv_sec + 1, __ATOMIC_ACQ_REL) != now.tv_sec + 1)
		strobe_qos_look(q);
}

/* So many more have been served. */
static inline void
strobe_qos_count(struct strobe_qos *q, uint64_t n)
{
	strobe_qos_find(q);
	struct strobe_qos_slot *slot = __atomic_load_n(&q->slot, __ATOMIC_ACQUIRE);
	if (slot)
		__atomic_fetch_add(&slot->count, n, __ATOMIC_RELAXED);
}

/* This is the metric now. */
static inline void
strobe_qos_set(struct strobe_qos *q, double value)
{
	strobe_qos_find(q);
	struct strobe_qos_slot *slot = __atomic_load_n(&q->slot, __ATOMIC_ACQUIRE);
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	if (!slot)
		return;
	__atomic_store_n(&slot->value, bits, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slot->sets, 1, __ATOMIC_RELEASE);
}

#endif
