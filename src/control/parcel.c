/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory files made here come into the target over a socket: one that it has from us, or makes. */
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/injection.h"
#include "control/supervisor.h"

/* A message with descriptors, and where the kernel puts them, in the target's addresses. */
struct letter {
	struct msghdr header;
	struct iovec part;
	char control[CMSG_SPACE(ST_PARCEL_MOST * sizeof(int))];
	char byte;
};
_Static_assert(sizeof(struct letter) <= ST_SCRATCH, "it lies there");

static struct letter
letter_at(uint64_t at, unsigned n)
{
	struct letter l = {.part = {(void *)(at + offsetof(struct letter, byte)), 1}};
	l.header = (struct msghdr){.msg_iov = (void *)(at + offsetof(struct letter, part)),
	                           .msg_iovlen = 1,
	                           .msg_control = (void *)(at + offsetof(struct letter, control)),
	                           .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	return l;
}

static bool
send_descriptors(int channel, const int *fds, unsigned n)
{
	struct letter l;
	l = letter_at((uint64_t)&l, n);
	struct cmsghdr head = {CMSG_LEN(n * sizeof *fds), SOL_SOCKET, SCM_RIGHTS};
	memcpy(l.control, &head, sizeof head);
	memcpy(l.control + CMSG_LEN(0), fds, n * sizeof *fds);
	return sendmsg(channel, &l.header, MSG_NOSIGNAL) == 1;
}

/* Descriptors will stand there: until then, none. */
static void
expect_descriptors(struct st_injection *in, uint64_t at, unsigned n)
{
	int none[ST_PARCEL_MOST];
	memset(none, 0xff, sizeof none);
	if (!st_remote_write(&in->remote, at, none, n * sizeof *none))
		return;
	in->fds = at;
	in->fds_end = at + n * sizeof *none;
	st_injection_way_back(in);
}

/* They are known: st_injection_opened. */
static void
know_descriptors(struct st_injection *in)
{
	in->fds = in->fds_end = 0;
	st_injection_way_back(in);
}

void
st_parcel_prepare(struct st_injection *in)
{
	if (in->channel >= 0)
		return;
	expect_descriptors(in, in->scratch, 2);
	st_injection_call(
	        in, "socketpair",
	        (struct st_remote_call){__NR_socketpair,
	                                {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, in->scratch}});
}

/* Of the socket pair made in the target one end is fetched here. */
static st_status
fetch_channel(struct st_injection *in)
{
	if (!st_remote_read(&in->remote, in->scratch, in->ends, sizeof in->ends))
		return st_injection_fail(in, "socketpair", -errno);
	st_injection_opened(in, in->ends[0]);
	st_injection_opened(in, in->ends[1]);
	know_descriptors(in);
	/* Of a thread that is not the first one, because that has ended: from Linux 6.9 on. */
	enum { PIDFD_OF_THREAD = O_EXCL };
	int pidfd = (int)syscall(SYS_pidfd_open, in->remote.pid, 0);
	if (pidfd < 0)
		pidfd = (int)syscall(SYS_pidfd_open, in->remote.pid, PIDFD_OF_THREAD);
	in->channel = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, in->ends[0], 0);
	int error = errno;
	if (pidfd >= 0)
		close(pidfd);
	return in->channel < 0 ? st_injection_fail(in, "pidfd_getfd", -error) : 0;
}

/* Returns a descriptor number that the program does not use. It is no higher than needed: a fork
 * copies the table of descriptors up to the highest. */
static uint64_t
high_descriptor(pid_t pid)
{
	enum { HIGH = 1000, FROM_LIMIT = 32 };
	struct rlimit limit;
	if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) != 0 || limit.rlim_cur <= 64 ||
	    limit.rlim_cur > HIGH + FROM_LIMIT)
		return HIGH;
	return limit.rlim_cur - FROM_LIMIT;
}

/* The descriptors that have come with the letter. */
static st_status
look_into(struct st_injection *in)
{
	struct letter l = {0};
	struct cmsghdr head = {.cmsg_len = CMSG_LEN(0)};
	if (!st_remote_read(&in->remote, in->scratch, &l, sizeof l))
		return st_injection_fail(in, "recvmsg", -errno);
	if (l.header.msg_controllen >= sizeof head)
		memcpy(&head, l.control, sizeof head);
	size_t n = (head.cmsg_len - CMSG_LEN(0)) / sizeof *in->there;
	if (n > in->n_parcel)
		return st_injection_fail(in, "recvmsg", -EPROTO);
	memcpy(in->there, l.control + CMSG_LEN(0), n * sizeof *in->there);
	for (size_t i = 0; i < n; i++)
		st_injection_opened(in, in->there[i]);
	know_descriptors(in);
	return n == in->n_parcel ? 0 : st_injection_fail(in, "recvmsg", -EMFILE);
}

/* The target takes the parcel from its end, and moves that out of the program's way. */
static st_status
receive_parcel(struct st_injection *in)
{
	struct letter l = letter_at(in->scratch, in->n_parcel);
	const uint64_t theirs = (uint64_t)in->ends[1];
	struct st_remote_call calls[] = {
	        {__NR_close, {(uint64_t)in->ends[0]}},
	        {__NR_recvmsg, {theirs, in->scratch, MSG_CMSG_CLOEXEC}},
	        {__NR_fcntl, {theirs, F_SETFD, FD_CLOEXEC}}, /* should it have to stay there */
	        {__NR_fcntl, {theirs, F_DUPFD_CLOEXEC, high_descriptor(in->remote.pid)}}};
	unsigned first = in->ends[0] < 0;
	if (!st_remote_write(&in->remote, in->scratch, &l, sizeof l))
		return st_injection_fail(in, "recvmsg", -errno);
	expect_descriptors(in, in->scratch + offsetof(struct letter, control) + CMSG_LEN(0),
	                   in->n_parcel);
	unsigned done = first + st_remote_calls(&in->remote, calls + first, 4 - first);
	if (done < 3)
		return st_injection_fail(in, "recvmsg", calls[done].nr);
	in->boot.channel = (uint32_t)(done == 4 ? (uint64_t)calls[3].nr : theirs);
	if (done == 4) {
		st_injection_opened(in, (int)calls[3].nr);
		st_injection_close(in, in->ends[1]);
	}
	return look_into(in);
}

st_status
st_parcel_send(struct st_injection *in, bool stays)
{
	if (in->channel < 0 && fetch_channel(in) != 0)
		return -1;
	if (!st_messages_prepare(in->channel))
		return st_injection_fail(in, "setsockopt", -errno);
	if (!send_descriptors(in->channel, in->here, in->n_parcel))
		return st_injection_fail(in, "sendmsg", -errno);
	if (receive_parcel(in) != 0)
		return -1;
	if (stays)
		return 0;
	st_injection_close(in, (int)in->boot.channel);
	close(in->channel);
	in->channel = -1;
	in->boot.channel = 0;
	return 0;
}
