/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/restore.h"

#include <curses.h>
#include <signal.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static const int restore_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV,
                                      SIGBUS, SIGILL,  SIGFPE, SIGABRT};

/* The handler of signals has no argument to pass this through. */
static struct {
	struct termios before;
	bool has_settings;
	char sequences[256]; /* those that reset the terminal */
	size_t n;
	struct sigaction old[sizeof restore_signals / sizeof *restore_signals];
	bool caught[sizeof restore_signals / sizeof *restore_signals];
} restore_state;

/* The signal comes again, with its default effect, when the handler has returned. */
static void
restore_on_signal(int number)
{
	const char *at = restore_state.sequences;
	for (size_t left = restore_state.n; left;) {
		const ssize_t n = write(STDOUT_FILENO, at, left);
		if (n <= 0)
			break;
		at += n;
		left -= (size_t)n;
	}
	if (restore_state.has_settings)
		tcsetattr(STDIN_FILENO, TCSANOW, &restore_state.before);
	raise(number);
}

void
st_restore_before(void)
{
	restore_state.has_settings = !tcgetattr(STDIN_FILENO, &restore_state.before);
}

/* Adds the sequence of a capability, without padding, which only hardware terminals need. */
static void
restore_add(const char *name)
{
	const char *text = tigetstr(name);
	if (!text || text == (const char *)-1) /* the latter: it is no string */
		return;
	const char *padding = strstr(text, "$<");
	const size_t n = padding ? (size_t)(padding - text) : strlen(text);
	if (restore_state.n + n > sizeof restore_state.sequences)
		return;
	memcpy(restore_state.sequences + restore_state.n, text, n);
	restore_state.n += n;
}

void
st_restore_begin(void)
{
	static const char *const names[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
	/* The default effect is there again once the handler has begun. */
	const struct sigaction action = {.sa_handler = restore_on_signal,
	                                 .sa_flags = (int)SA_RESETHAND};
	restore_state.n = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		restore_add(names[i]);
	for (size_t i = 0; i < sizeof restore_signals / sizeof *restore_signals; i++) {
		struct sigaction old;
		restore_state.caught[i] =
		        !sigaction(restore_signals[i], NULL, &old) && old.sa_handler != SIG_IGN &&
		        !sigaction(restore_signals[i], &action, &restore_state.old[i]);
	}
}

void
st_restore_after(void)
{
	for (size_t i = 0; i < sizeof restore_signals / sizeof *restore_signals; i++)
		if (restore_state.caught[i])
			sigaction(restore_signals[i], &restore_state.old[i], NULL);
	memset(&restore_state, 0, sizeof restore_state);
}
