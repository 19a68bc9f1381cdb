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
 * `strobe run --qos shm:requests --qos-min 3000` then measures no more than leaves 3000 requests
 *per second. Without strobe each call looks for it once in 4096 times, and else only counts.
 *Nothing has to be linked. A slot belongs to its user: programs of others do not see it.
 */
#ifndef STROBE_QOS_H
#define STROBE_QOS_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
	struct strobe_qos_slot *slot; /* NULL: strobe is not there */
	unsigned calls;
};
#define STROBE_QOS(name)                                                                           \
	{                                                                                          \
		(name), 0, 0                                                                       \
	}

static inline void
strobe_qos_find(struct strobe_qos *q)
{
	char path[128] = "/dev/shm/strobe-qos.";
	struct stat st;
	if (__atomic_fetch_add(&q->calls, 1, __ATOMIC_RELAXED) % 4096)
		return;
	strncat(path, q->name, sizeof path - strlen(path) - 1);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && S_ISREG(st.st_mode) &&
	    st.st_size >= (off_t)sizeof *q->slot) {
		void *p = mmap(0, sizeof *q->slot, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p != MAP_FAILED)
			__atomic_store_n(&q->slot, (struct strobe_qos_slot *)p, __ATOMIC_RELEASE);
	}
	close(fd);
}

/* So many more have been served. */
static inline void
strobe_qos_count(struct strobe_qos *q, uint64_t n)
{
	struct strobe_qos_slot *slot = __atomic_load_n(&q->slot, __ATOMIC_ACQUIRE);
	if (slot)
		__atomic_fetch_add(&slot->count, n, __ATOMIC_RELAXED);
	else
		strobe_qos_find(q);
}

/* This is the metric now. */
static inline void
strobe_qos_set(struct strobe_qos *q, double value)
{
	struct strobe_qos_slot *slot = __atomic_load_n(&q->slot, __ATOMIC_ACQUIRE);
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	if (!slot) {
		strobe_qos_find(q);
		return;
	}
	__atomic_store_n(&slot->value, bits, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slot->sets, 1, __ATOMIC_RELEASE);
}

#endif
