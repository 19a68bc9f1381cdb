/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of the C and C++ libraries, and system calls, that do I/O or use locks. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "blow/calls.h"

/* Names without leading underscores, and without the prefixes and endings of variants, which
 * plain_name() removes. Sorted. */
static const char *const does_io[] = {
        "accept",
        "accept4",
        "close",
        "connect",
        "copy_file_range",
        "creat",
        "dprintf",
        "epoll_pwait",
        "epoll_wait",
        "fclose",
        "fdatasync",
        "fdopen",
        "fflush",
        "fgetc",
        "fgets",
        "fgetwc",
        "fgetws",
        "fopen",
        "fprintf",
        "fputc",
        "fputs",
        "fputwc",
        "fputws",
        "fread",
        "freopen",
        "fscanf",
        "fseek",
        "fseeko",
        "fsync",
        "fwprintf",
        "fwrite",
        "getc",
        "getchar",
        "getdelim",
        "getline",
        "gets",
        "isoc23_fscanf",
        "isoc23_scanf",
        "isoc99_fscanf",
        "isoc99_scanf",
        "open",
        "openat",
        "overflow",
        "perror",
        "poll",
        "ppoll",
        "pread",
        "preadv",
        "preadv2",
        "printf",
        "pselect",
        "putc",
        "putchar",
        "puts",
        "pwrite",
        "pwritev",
        "pwritev2",
        "read",
        "readv",
        "recv",
        "recvfrom",
        "recvmmsg",
        "recvmsg",
        "rewind",
        "scanf",
        "select",
        "send",
        "sendfile",
        "sendmmsg",
        "sendmsg",
        "sendto",
        "splice",
        "sync_file_range",
        "uflow",
        "underflow",
        "ungetc",
        "vdprintf",
        "vfprintf",
        "vfscanf",
        "vfwprintf",
        "vprintf",
        "vscanf",
        "wprintf",
        "write",
        "writev",
};
static const char *const uses_locks[] = {
        "cnd_broadcast",
        "cnd_signal",
        "cnd_timedwait",
        "cnd_wait",
        "lll_lock_wait",
        "lll_lock_wait_private",
        "lll_lock_wake",
        "lll_lock_wake_private",
        "mtx_lock",
        "mtx_timedlock",
        "mtx_trylock",
        "mtx_unlock",
        "pthread_barrier_wait",
        "pthread_cond_broadcast",
        "pthread_cond_clockwait",
        "pthread_cond_signal",
        "pthread_cond_timedwait",
        "pthread_cond_wait",
        "pthread_mutex_clocklock",
        "pthread_mutex_cond_lock",
        "pthread_mutex_lock",
        "pthread_mutex_timedlock",
        "pthread_mutex_trylock",
        "pthread_mutex_unlock",
        "pthread_rwlock_clockrdlock",
        "pthread_rwlock_clockwrlock",
        "pthread_rwlock_rdlock",
        "pthread_rwlock_timedrdlock",
        "pthread_rwlock_timedwrlock",
        "pthread_rwlock_tryrdlock",
        "pthread_rwlock_trywrlock",
        "pthread_rwlock_unlock",
        "pthread_rwlock_wrlock",
        "pthread_spin_lock",
        "pthread_spin_trylock",
        "pthread_spin_unlock",
        "sem_clockwait",
        "sem_post",
        "sem_timedwait",
        "sem_trywait",
        "sem_wait",
};
/* They lead to output only if the program fails or ends. Sorted. */
static const char *const ends_program[] = {
        "abort",           "assert",    "assert_fail",    "assert_fail_base", "assert_perror_fail",
        "chk_fail",        "cxa_throw", "exit",           "fortify_fail",     "libc_message",
        "malloc_printerr", "message",   "stack_chk_fail", "terminate",
};
/* Beginnings of mangled names: streams; locks of C++. */
static const char *const streams[] = {"_ZNSo",
                                      "_ZNSi",
                                      "_ZStls",
                                      "_ZStrs",
                                      "_ZSt4endl",
                                      "_ZSt7getline",
                                      "_ZSt16__ostream_insert",
                                      "_ZNSt13basic_filebuf"};
static const char *const cxx_locks[] = {"_ZNSt18condition_variable", "_ZNSt5mutex",
                                        "_ZNSt15recursive_mutex", "_ZNSt12shared_mutex"};

static int
plain_name_order(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

#define IS_NAMED(name, list)                                                                       \
	(bsearch(name, list, sizeof(list) / sizeof *(list), sizeof *(list), plain_name_order) !=   \
	 NULL)
#define BEGINS(name, list) begins_with(name, list, sizeof(list) / sizeof *(list))

static bool
begins_with(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

/* Removes the ending; the name does not become empty. */
static void
cut_ending(char *name, const char *ending)
{
	const size_t length = strlen(name), less = strlen(ending);
	if (length > less && !strcmp(name + length - less, ending))
		name[length - less] = '\0';
}

/* Copies the name without underscores, prefixes and endings that only variants of a function have:
 * "__GI___libc_write" becomes "write". */
static void
plain_name(const char *raw_name, char *out, size_t room)
{
	static const char *const beginnings[] = {"GI_", "IO_", "libc_", "new_do_"};
	const char *from = raw_name;
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
		from += strspn(from, "_");
		const size_t n = strlen(beginnings[i]);
		if (!strncmp(from, beginnings[i], n) && from[n])
			from += n;
	}
	const size_t length = strcspn(from, "@");
	const size_t n = length < room ? length : room - 1;
	memcpy(out, from, n);
	out[n] = '\0';
	cut_ending(out, "_nocancel");
	cut_ending(out, "_chk");
	cut_ending(out, "_unlocked");
	cut_ending(out, "64");
}

uint32_t
st_blow_traits_of_name(const char *raw_name)
{
	char name[64];
	uint32_t traits = 0;
	plain_name(raw_name, name, sizeof name);
	if (IS_NAMED(name, does_io) || BEGINS(raw_name, streams))
		traits |= ST_BLOW_DOES_IO;
	if (!strncmp(raw_name, "_IO", 3))
		traits |= ST_BLOW_DOES_IO;
	if (IS_NAMED(name, uses_locks) || BEGINS(raw_name, cxx_locks))
		traits |= ST_BLOW_IS_LOCK | ST_BLOW_USES_LOCKS;
	if (IS_NAMED(name, ends_program))
		traits |= ST_BLOW_ENDS_PROGRAM;
	return traits;
}

uint32_t
st_blow_traits_of_call(uint32_t number)
{
	switch (number) {
	case SYS_read:
	case SYS_write:
	case SYS_open:
	case SYS_close:
	case SYS_poll:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_readv:
	case SYS_writev:
	case SYS_select:
	case SYS_sendfile:
	case SYS_connect:
	case SYS_accept:
	case SYS_sendto:
	case SYS_recvfrom:
	case SYS_sendmsg:
	case SYS_recvmsg:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_epoll_wait:
	case SYS_openat:
	case SYS_preadv:
	case SYS_pwritev:
	case SYS_preadv2:
	case SYS_pwritev2:
	case SYS_pselect6:
	case SYS_ppoll:
	case SYS_epoll_pwait:
	case SYS_accept4:
	case SYS_recvmmsg:
	case SYS_sendmmsg:
	case SYS_creat:
	case SYS_splice:
	case SYS_copy_file_range:
	case SYS_sync_file_range:
		return ST_BLOW_DOES_IO;
	case SYS_futex:
		return ST_BLOW_USES_LOCKS;
	default:
		return 0;
	}
}
