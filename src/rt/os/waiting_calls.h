/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a thread waits for in a system call. */
#ifndef STROBE_RT_OS_WAITING_CALLS_H
#define STROBE_RT_OS_WAITING_CALLS_H

/* W(ST_STACK_ kind, name of the call). Other calls are ST_STACK_OTHER. */
#define WAITING_CALLS(W)                                                                           \
	W(SLEEP, nanosleep)                                                                        \
	W(SLEEP, clock_nanosleep)                                                                  \
	W(FUTEX, futex)                                                                            \
	W(FUTEX, futex_waitv)                                                                      \
	W(POLL, poll)                                                                              \
	W(POLL, ppoll)                                                                             \
	W(POLL, select)                                                                            \
	W(POLL, pselect6)                                                                          \
	W(POLL, epoll_wait)                                                                        \
	W(POLL, epoll_pwait)                                                                       \
	W(POLL, epoll_pwait2)                                                                      \
	W(CHILD, wait4)                                                                            \
	W(CHILD, waitid)                                                                           \
	W(CHILD, vfork)                                                                            \
	W(SIGNAL, pause)                                                                           \
	W(SIGNAL, rt_sigsuspend)                                                                   \
	W(SIGNAL, rt_sigtimedwait)                                                                 \
	W(IO, read)                                                                                \
	W(IO, readv)                                                                               \
	W(IO, pread64)                                                                             \
	W(IO, preadv)                                                                              \
	W(IO, preadv2)                                                                             \
	W(IO, write)                                                                               \
	W(IO, writev)                                                                              \
	W(IO, pwrite64)                                                                            \
	W(IO, pwritev)                                                                             \
	W(IO, pwritev2)                                                                            \
	W(IO, sendfile)                                                                            \
	W(IO, splice)                                                                              \
	W(IO, tee)                                                                                 \
	W(IO, vmsplice)                                                                            \
	W(IO, copy_file_range)                                                                     \
	W(IO, accept)                                                                              \
	W(IO, accept4)                                                                             \
	W(IO, connect)                                                                             \
	W(IO, recvfrom)                                                                            \
	W(IO, recvmsg)                                                                             \
	W(IO, recvmmsg)                                                                            \
	W(IO, sendto)                                                                              \
	W(IO, sendmsg)                                                                             \
	W(IO, sendmmsg)                                                                            \
	W(IO, fsync)                                                                               \
	W(IO, fdatasync)                                                                           \
	W(IO, sync)                                                                                \
	W(IO, syncfs)                                                                              \
	W(IO, sync_file_range)                                                                     \
	W(IO, msync)                                                                               \
	W(IO, open)                                                                                \
	W(IO, openat)                                                                              \
	W(IO, close)                                                                               \
	W(IO, io_getevents)                                                                        \
	W(IO, io_uring_enter)                                                                      \
	W(IO, msgrcv)                                                                              \
	W(IO, msgsnd)                                                                              \
	W(IO, mq_timedreceive)                                                                     \
	W(IO, mq_timedsend)                                                                        \
	W(LOCK, semop)                                                                             \
	W(LOCK, semtimedop)                                                                        \
	W(LOCK, flock)                                                                             \
	W(LOCK, fcntl)

#endif
