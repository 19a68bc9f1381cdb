/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls: totals, and as they happen with their arguments in words. */
#include <asm/unistd_64.h>
#include <strobe/tool.h>

enum { COUNT = 1, ERRORS, TIME, LONGEST };
STROBE_TABLE(syscalls, "system calls", STROBE_KEY("name", STROBE_SYSCALL),
             STROBE_SUM("count", STROBE_NUMBER), STROBE_SUM("errors", STROBE_NUMBER),
             STROBE_SUM("time", STROBE_TICKS), STROBE_MAX("longest", STROBE_TICKS));
STROBE_STREAM(trace, "system calls in the order in which they ended", NULL,
              STROBE_COLUMN("thread", STROBE_THREAD), STROBE_COLUMN("begin", STROBE_TICKS),
              STROBE_COLUMN("name", STROBE_SYSCALL), STROBE_COLUMN("arguments", STROBE_TEXT),
              STROBE_COLUMN("result", STROBE_SIGNED), STROBE_COLUMN("error", STROBE_TEXT),
              STROBE_COLUMN("time", STROBE_TICKS));

struct state {
	char words[512]; /* the arguments of the call under way */
};
static int tracing;

/* ---- names of bits and of values ---- */

struct name {
	uint64_t value;
	const char *name;
};
#define END                                                                                        \
	{                                                                                          \
		0, NULL                                                                            \
	}

static const struct name open_flags[] = {
        {0x1, "O_WRONLY"},       {0x2, "O_RDWR"},         {0x40, "O_CREAT"},
        {0x80, "O_EXCL"},        {0x100, "O_NOCTTY"},     {0x200, "O_TRUNC"},
        {0x400, "O_APPEND"},     {0x800, "O_NONBLOCK"},   {0x4000, "O_DIRECT"},
        {0x8000, "O_LARGEFILE"}, {0x410000, "O_TMPFILE"}, {0x10000, "O_DIRECTORY"},
        {0x20000, "O_NOFOLLOW"}, {0x40000, "O_NOATIME"},  {0x80000, "O_CLOEXEC"},
        {0x101000, "O_SYNC"},    {0x200000, "O_PATH"},    END};
static const struct name protections[] = {
        {1, "PROT_READ"}, {2, "PROT_WRITE"}, {4, "PROT_EXEC"}, {0x1000000, "PROT_GROWSDOWN"}, END};
static const struct name map_flags[] = {{0x1, "MAP_SHARED"},
                                        {0x2, "MAP_PRIVATE"},
                                        {0x10, "MAP_FIXED"},
                                        {0x20, "MAP_ANONYMOUS"},
                                        {0x100, "MAP_GROWSDOWN"},
                                        {0x800, "MAP_DENYWRITE"},
                                        {0x2000, "MAP_LOCKED"},
                                        {0x4000, "MAP_NORESERVE"},
                                        {0x8000, "MAP_POPULATE"},
                                        {0x20000, "MAP_STACK"},
                                        {0x40000, "MAP_HUGETLB"},
                                        {0x100000, "MAP_FIXED_NOREPLACE"},
                                        END};
static const struct name at_flags[] = {{0x100, "AT_SYMLINK_NOFOLLOW"}, {0x200, "AT_REMOVEDIR"},
                                       {0x400, "AT_SYMLINK_FOLLOW"},   {0x800, "AT_NO_AUTOMOUNT"},
                                       {0x1000, "AT_EMPTY_PATH"},      END};
static const struct name access_modes[] = {{1, "X_OK"}, {2, "W_OK"}, {4, "R_OK"}, END};
static const struct name clone_flags[] = {{0x100, "CLONE_VM"},
                                          {0x200, "CLONE_FS"},
                                          {0x400, "CLONE_FILES"},
                                          {0x800, "CLONE_SIGHAND"},
                                          {0x4000, "CLONE_VFORK"},
                                          {0x10000, "CLONE_THREAD"},
                                          {0x40000, "CLONE_SYSVSEM"},
                                          {0x80000, "CLONE_SETTLS"},
                                          {0x100000, "CLONE_PARENT_SETTID"},
                                          {0x200000, "CLONE_CHILD_CLEARTID"},
                                          {0x1000000, "CLONE_CHILD_SETTID"},
                                          END};
static const struct name socket_types[] = {{0x80000, "SOCK_CLOEXEC"},
                                           {0x800, "SOCK_NONBLOCK"},
                                           {1, "SOCK_STREAM"},
                                           {2, "SOCK_DGRAM"},
                                           {3, "SOCK_RAW"},
                                           {5, "SOCK_SEQPACKET"},
                                           END};
static const struct name futex_operations[] = {{0, "FUTEX_WAIT"},
                                               {1, "FUTEX_WAKE"},
                                               {3, "FUTEX_REQUEUE"},
                                               {4, "FUTEX_CMP_REQUEUE"},
                                               {9, "FUTEX_WAIT_BITSET"},
                                               {0x80, "FUTEX_WAIT_PRIVATE"},
                                               {0x81, "FUTEX_WAKE_PRIVATE"},
                                               {0x83, "FUTEX_REQUEUE_PRIVATE"},
                                               {0x84, "FUTEX_CMP_REQUEUE_PRIVATE"},
                                               {0x89, "FUTEX_WAIT_BITSET_PRIVATE"},
                                               {0x189, "FUTEX_WAIT_BITSET_PRIVATE|"
                                                       "FUTEX_CLOCK_REALTIME"},
                                               END};
static const struct name fcntl_commands[] = {{0, "F_DUPFD"},
                                             {1, "F_GETFD"},
                                             {2, "F_SETFD"},
                                             {3, "F_GETFL"},
                                             {4, "F_SETFL"},
                                             {5, "F_GETLK"},
                                             {6, "F_SETLK"},
                                             {7, "F_SETLKW"},
                                             {1030, "F_DUPFD_CLOEXEC"},
                                             END};
static const struct name whences[] = {{0, "SEEK_SET"},  {1, "SEEK_CUR"},  {2, "SEEK_END"},
                                      {3, "SEEK_DATA"}, {4, "SEEK_HOLE"}, END};
static const struct name mask_changes[] = {
        {0, "SIG_BLOCK"}, {1, "SIG_UNBLOCK"}, {2, "SIG_SETMASK"}, END};
static const struct name clocks[] = {
        {0, "CLOCK_REALTIME"},          {1, "CLOCK_MONOTONIC"}, {2, "CLOCK_PROCESS_CPUTIME_ID"},
        {3, "CLOCK_THREAD_CPUTIME_ID"}, {7, "CLOCK_BOOTTIME"},  END};
static const struct name families[] = {
        {1, "AF_UNIX"}, {2, "AF_INET"}, {10, "AF_INET6"}, {16, "AF_NETLINK"}, END};
static const struct name advices[] = {
        {0, "MADV_NORMAL"},    {1, "MADV_RANDOM"},      {2, "MADV_SEQUENTIAL"},
        {3, "MADV_WILLNEED"},  {4, "MADV_DONTNEED"},    {8, "MADV_FREE"},
        {14, "MADV_HUGEPAGE"}, {15, "MADV_NOHUGEPAGE"}, END};
static const struct name arch_codes[] = {{0x1001, "ARCH_SET_GS"},     {0x1002, "ARCH_SET_FS"},
                                         {0x1003, "ARCH_GET_FS"},     {0x1004, "ARCH_GET_GS"},
                                         {0x3001, "ARCH_CET_STATUS"}, END};
static const struct name signals[] = {{1, "SIGHUP"},    {2, "SIGINT"},     {3, "SIGQUIT"},
                                      {4, "SIGILL"},    {5, "SIGTRAP"},    {6, "SIGABRT"},
                                      {7, "SIGBUS"},    {8, "SIGFPE"},     {9, "SIGKILL"},
                                      {10, "SIGUSR1"},  {11, "SIGSEGV"},   {12, "SIGUSR2"},
                                      {13, "SIGPIPE"},  {14, "SIGALRM"},   {15, "SIGTERM"},
                                      {17, "SIGCHLD"},  {18, "SIGCONT"},   {19, "SIGSTOP"},
                                      {20, "SIGTSTP"},  {21, "SIGTTIN"},   {22, "SIGTTOU"},
                                      {23, "SIGURG"},   {26, "SIGVTALRM"}, {27, "SIGPROF"},
                                      {28, "SIGWINCH"}, {29, "SIGIO"},     END};
static const struct name errors[] = {{1, "EPERM"},
                                     {2, "ENOENT"},
                                     {3, "ESRCH"},
                                     {4, "EINTR"},
                                     {5, "EIO"},
                                     {6, "ENXIO"},
                                     {7, "E2BIG"},
                                     {8, "ENOEXEC"},
                                     {9, "EBADF"},
                                     {10, "ECHILD"},
                                     {11, "EAGAIN"},
                                     {12, "ENOMEM"},
                                     {13, "EACCES"},
                                     {14, "EFAULT"},
                                     {16, "EBUSY"},
                                     {17, "EEXIST"},
                                     {18, "EXDEV"},
                                     {19, "ENODEV"},
                                     {20, "ENOTDIR"},
                                     {21, "EISDIR"},
                                     {22, "EINVAL"},
                                     {23, "ENFILE"},
                                     {24, "EMFILE"},
                                     {25, "ENOTTY"},
                                     {26, "ETXTBSY"},
                                     {27, "EFBIG"},
                                     {28, "ENOSPC"},
                                     {29, "ESPIPE"},
                                     {30, "EROFS"},
                                     {31, "EMLINK"},
                                     {32, "EPIPE"},
                                     {34, "ERANGE"},
                                     {35, "EDEADLK"},
                                     {36, "ENAMETOOLONG"},
                                     {38, "ENOSYS"},
                                     {39, "ENOTEMPTY"},
                                     {40, "ELOOP"},
                                     {61, "ENODATA"},
                                     {75, "EOVERFLOW"},
                                     {88, "ENOTSOCK"},
                                     {92, "ENOPROTOOPT"},
                                     {95, "EOPNOTSUPP"},
                                     {97, "EAFNOSUPPORT"},
                                     {98, "EADDRINUSE"},
                                     {104, "ECONNRESET"},
                                     {106, "EISCONN"},
                                     {107, "ENOTCONN"},
                                     {110, "ETIMEDOUT"},
                                     {111, "ECONNREFUSED"},
                                     {114, "EALREADY"},
                                     {115, "EINPROGRESS"},
                                     {125, "ECANCELED"},
                                     END};

/* ---- what the arguments of a call are: a letter for each ----
 * d a descriptor or another number, u an unsigned one, x one in hexadecimal, o in octal;
 * l of 64 bits; D a directory; P a path; W bytes written, R bytes read, as many as the next
 * argument, the result says; other letters: names, in lists. */

static const char *const forms[] = {
        [__NR_read] = "dRu",
        [__NR_write] = "dWu",
        [__NR_open] = "POo",
        [__NR_close] = "d",
        [__NR_stat] = "Px",
        [__NR_fstat] = "dx",
        [__NR_lstat] = "Px",
        [__NR_poll] = "xud",
        [__NR_lseek] = "dlw",
        [__NR_mmap] = "xupmdx",
        [__NR_mprotect] = "xup",
        [__NR_munmap] = "xu",
        [__NR_brk] = "x",
        [__NR_rt_sigaction] = "sxxu",
        [__NR_rt_sigprocmask] = "hxxu",
        [__NR_rt_sigreturn] = "",
        [__NR_ioctl] = "dxx",
        [__NR_pread64] = "dRuu",
        [__NR_pwrite64] = "dWuu",
        [__NR_readv] = "dxu",
        [__NR_writev] = "dxu",
        [__NR_access] = "Pa",
        [__NR_pipe] = "x",
        [__NR_select] = "dxxxx",
        [__NR_sched_yield] = "",
        [__NR_mremap] = "xuuxx",
        [__NR_madvise] = "xuv",
        [__NR_dup] = "d",
        [__NR_dup2] = "dd",
        [__NR_pause] = "",
        [__NR_nanosleep] = "xx",
        [__NR_alarm] = "u",
        [__NR_setitimer] = "dxx",
        [__NR_getpid] = "",
        [__NR_socket] = "ftd",
        [__NR_connect] = "dxu",
        [__NR_accept] = "dxx",
        [__NR_sendto] = "dWuxxu",
        [__NR_recvfrom] = "dRuxxx",
        [__NR_bind] = "dxu",
        [__NR_listen] = "dd",
        [__NR_clone] = "cxxxx",
        [__NR_fork] = "",
        [__NR_vfork] = "",
        [__NR_execve] = "Pxx",
        [__NR_exit] = "d",
        [__NR_wait4] = "dxxx",
        [__NR_kill] = "ds",
        [__NR_uname] = "x",
        [__NR_fcntl] = "dFx",
        [__NR_flock] = "dd",
        [__NR_fsync] = "d",
        [__NR_ftruncate] = "du",
        [__NR_getdents] = "dxu",
        [__NR_getcwd] = "xu",
        [__NR_chdir] = "P",
        [__NR_rename] = "PP",
        [__NR_mkdir] = "Po",
        [__NR_rmdir] = "P",
        [__NR_link] = "PP",
        [__NR_unlink] = "P",
        [__NR_symlink] = "PP",
        [__NR_readlink] = "PRu",
        [__NR_chmod] = "Po",
        [__NR_fchmod] = "do",
        [__NR_umask] = "o",
        [__NR_gettimeofday] = "xx",
        [__NR_getrlimit] = "ux",
        [__NR_getuid] = "",
        [__NR_getgid] = "",
        [__NR_geteuid] = "",
        [__NR_getegid] = "",
        [__NR_getppid] = "",
        [__NR_setsid] = "",
        [__NR_sigaltstack] = "xx",
        [__NR_statfs] = "Px",
        [__NR_arch_prctl] = "Ax",
        [__NR_gettid] = "",
        [__NR_futex] = "xqdxxx",
        [__NR_sched_getaffinity] = "dux",
        [__NR_getdents64] = "dxu",
        [__NR_set_tid_address] = "x",
        [__NR_clock_gettime] = "kx",
        [__NR_clock_getres] = "kx",
        [__NR_clock_nanosleep] = "kxxx",
        [__NR_exit_group] = "d",
        [__NR_epoll_wait] = "dxud",
        [__NR_tgkill] = "dds",
        [__NR_openat] = "DPOo",
        [__NR_mkdirat] = "DPo",
        [__NR_newfstatat] = "DPxT",
        [__NR_unlinkat] = "DPT",
        [__NR_renameat] = "DPDP",
        [__NR_readlinkat] = "DPRu",
        [__NR_faccessat] = "DPa",
        [__NR_set_robust_list] = "xu",
        [__NR_accept4] = "dxxx",
        [__NR_dup3] = "ddO",
        [__NR_pipe2] = "xO",
        [__NR_prlimit64] = "duxx",
        [__NR_renameat2] = "DPDPx",
        [__NR_getrandom] = "xux",
        [__NR_statx] = "DPTxx",
        [__NR_rseq] = "xuxx",
        [__NR_clone3] = "xu",
        [__NR_execveat] = "DPxxT",
        [__NR_faccessat2] = "DPaT",
};

static const struct {
	char letter;
	int bits;
	const struct name *names;
} lists[] = {{'O', 1, open_flags},   {'p', 1, protections},      {'m', 1, map_flags},
             {'T', 1, at_flags},     {'a', 1, access_modes},     {'c', 1, clone_flags},
             {'t', 1, socket_types}, {'q', 0, futex_operations}, {'F', 0, fcntl_commands},
             {'w', 0, whences},      {'h', 0, mask_changes},     {'k', 0, clocks},
             {'f', 0, families},     {'v', 0, advices},          {'A', 0, arch_codes},
             {'s', 0, signals}};

/* ---- arguments in words ---- */

static void
add_text(struct state *s, const char *text)
{
	strobe_format_text(s->words, sizeof s->words, text);
}

static void
add_hex(struct state *s, uint64_t n)
{
	add_text(s, n ? "0x" : "");
	strobe_format_hex(s->words, sizeof s->words, n);
}

static void
add_number(struct state *s, int64_t n)
{
	add_text(s, n < 0 ? "-" : "");
	strobe_format_number(s->words, sizeof s->words, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static const char *
name_of(const struct name *names, uint64_t value)
{
	for (; names->name; names++)
		if (names->value == value)
			return names->name;
	return NULL;
}

static void
add_bits(struct state *s, const struct name *names, uint64_t value)
{
	int any = 0;
	for (; names->name; names++)
		if ((value & names->value) == names->value) {
			add_text(s, any++ ? "|" : "");
			add_text(s, names->name);
			value &= ~names->value;
		}
	if (value || !any) {
		add_text(s, any ? "|" : "");
		add_hex(s, value);
	}
}

static void
add_named(struct state *s, char letter, uint64_t value)
{
	unsigned i = 0;
	while (i < sizeof lists / sizeof *lists && lists[i].letter != letter)
		i++;
	if (i == sizeof lists / sizeof *lists) {
		add_hex(s, value);
	} else if (letter == 'O' && !(value & 3)) {
		add_text(s, value ? "O_RDONLY|" : "O_RDONLY");
		if (value)
			add_bits(s, open_flags, value);
	} else if (lists[i].bits) {
		add_bits(s, lists[i].names, value);
	} else if (name_of(lists[i].names, value)) {
		add_text(s, name_of(lists[i].names, value));
	} else {
		add_number(s, (int64_t)value);
	}
}

static void
add_character(struct state *s, char c)
{
	char text[5] = {c};
	if (c == '\n' || c == '\t' || c == '"' || c == '\\') {
		text[0] = '\\';
		text[1] = (char)(c == '\n' ? 'n' : c == '\t' ? 't' : c);
	} else if (c < ' ' || c > '~') {
		text[0] = '\\';
		for (unsigned k = 0; k < 3; k++)
			text[1 + k] = (char)('0' + ((uint8_t)c >> (6 - 3 * k) & 7));
	}
	add_text(s, text);
}

enum { MOST_TEXT = 48 };

/* `bytes` of the program's memory, or a string, in quotes. */
static void
add_quoted(struct state *s, uint64_t from, uint64_t bytes, int string)
{
	char c;
	uint64_t i = 0;
	if (strobe_read(&c, from, 1)) {
		add_hex(s, from);
		return;
	}
	add_text(s, "\"");
	for (; i < bytes && i < MOST_TEXT && !strobe_read(&c, from + i, 1); i++) {
		if (string && !c)
			bytes = i;
		else
			add_character(s, c);
	}
	add_text(s, i < bytes && i == MOST_TEXT ? "\"..." : "\"");
}

static void
add_argument(struct state *s, const strobe_syscall *call, unsigned i, char letter)
{
	uint64_t value = call->argument[i], next = i < 5 ? call->argument[i + 1] : 0;
	switch (letter) {
	case 'd':
		add_number(s, (int32_t)value);
		break;
	case 'l':
		add_number(s, (int64_t)value);
		break;
	case 'u':
		strobe_format_number(s->words, sizeof s->words, value);
		break;
	case 'o':
		add_text(s, "0");
		for (int shift = 9; shift >= 0; shift -= 3)
			strobe_format_number(s->words, sizeof s->words, value >> shift & 7);
		break;
	case 'D':
		if ((int32_t)value == -100)
			add_text(s, "AT_FDCWD");
		else
			add_number(s, (int32_t)value);
		break;
	case 'P':
		add_quoted(s, value, UINT64_MAX, 1);
		break;
	case 'W':
		add_quoted(s, value, next, 0);
		break;
	case 'R':
		if (call->result > 0)
			add_quoted(s, value, (uint64_t)call->result, 0);
		else
			add_hex(s, value);
		break;
	default:
		add_named(s, letter, value);
	}
}

static const char *
form_of(uint64_t number)
{
	const char *form = number < sizeof forms / sizeof *forms ? forms[number] : NULL;
	return form ? form : "xxxxxx";
}

static void
add_arguments(struct state *s, const strobe_syscall *call)
{
	const char *form = form_of(call->number);
	s->words[0] = 0;
	for (unsigned i = 0; form[i]; i++) {
		add_text(s, i ? ", " : "");
		add_argument(s, call, i, form[i]);
	}
}

/* What it reads is there after it, what it is given may be gone by then. */
static int
reads(uint64_t number)
{
	const char *form = form_of(number);
	while (*form && *form != 'R')
		form++;
	return *form == 'R';
}

/* ---- happenings ---- */

static void
write_row(strobe_thread *t, struct state *s, const strobe_syscall *call, int ended)
{
	int failed = ended && call->result < 0 && call->result >= -4095;
	uint64_t error = failed ? (uint64_t)-call->result : 0;
	const char *name = failed ? name_of(errors, error) : "";
	char number[24] = "";
	if (!name)
		strobe_format_number(number, sizeof number, error);
	const uint64_t row[] = {strobe_thread_number(t),
	                        call->begin,
	                        call->number,
	                        strobe_text(s->words),
	                        ended ? (uint64_t)call->result : 0,
	                        strobe_text(name ? name : number),
	                        ended ? call->end - call->begin : 0};
	strobe_write(t, &trace, row);
}

static void
add(unsigned column, const strobe_syscall *call, uint64_t amount)
{
	strobe_cell_add(strobe_cell_of(&syscalls, column, call->number), amount);
}

static int
may_return(uint64_t number)
{
	return number != __NR_exit && number != __NR_exit_group && number != __NR_rt_sigreturn;
}

static int
executes(uint64_t number)
{
	return number == __NR_execve || number == __NR_execveat;
}

static void
before(strobe_thread *t, const strobe_syscall *call)
{
	struct state *s = strobe_state(t);
	if (!s)
		return;
	if (tracing && !reads(call->number))
		add_arguments(s, call);
	if (may_return(call->number) && !executes(call->number))
		return;
	add(COUNT, call, 1);
	if (tracing)
		write_row(t, s, call, 0);
}

static void
after(strobe_thread *t, const strobe_syscall *call)
{
	struct state *s = strobe_state(t);
	if (!s)
		return;
	uint64_t time = call->end - call->begin;
	if (!executes(call->number))
		add(COUNT, call, 1);
	add(TIME, call, time);
	strobe_cell_max(strobe_cell_of(&syscalls, LONGEST, call->number), time);
	if (call->result < 0 && call->result >= -4095)
		add(ERRORS, call, 1);
	if (!tracing)
		return;
	/* One that begins another program is over then: its row says so until it fails. */
	if (executes(call->number))
		strobe_take_back(t, &trace);
	if (reads(call->number))
		add_arguments(s, call);
	write_row(t, s, call, 1);
}

static void
begin(void)
{
	tracing = strobe_option_number("trace") != 0;
}

STROBE_TOOL(syscalls, .help = "count system calls with errors and time, or record each one",
            .syscall_before = before, .syscall_after = after, .begin = begin,
            .state = sizeof(struct state),
            .options = {{"trace", "0", "record each call, with its arguments in words"}},
            .limits = {{"trace", 0, 1}});
