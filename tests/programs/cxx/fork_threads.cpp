// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that throw, catch, fork and exec at the same time, while the heap is in use everywhere.
/* strobe-test: follow=1 */
#include "check.h"
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace
{
long
deep(int n, std::map<int, std::string> &m)
{
	m[n] = std::string(static_cast<std::size_t>(n % 30), 'y');
	if (n == 0)
		throw std::runtime_error("deep");
	return deep(n - 1, m) + static_cast<long>(m[n].size());
}

int
throws_and_counts(int rounds)
{
	int caught = 0;
	for (int i = 0; i < rounds; i++) {
		std::map<int, std::string> m;
		try {
			deep(2 * i, m);
		} catch (const std::exception &e) {
			caught += !std::strcmp(e.what(), "deep") &&
			          m.size() == static_cast<std::size_t>(2 * i + 1);
		}
	}
	return caught;
}

void
fork_and_throw(int id)
{
	for (int i = 0; i < 6; i++) {
		pid_t pid = fork();
		CHECK(pid >= 0, "fork");
		if (!pid) {
			if (i % 3 == 0)
				execl("/bin/true", "true", nullptr);
			_exit(throws_and_counts(10 + id));
		}
		int status;
		CHECK_EQ(throws_and_counts(8), 8);
		CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "status %#x", status);
		CHECK_EQ(WEXITSTATUS(status), i % 3 ? 10 + id : 0);
	}
}
} // namespace

int
main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back(fork_and_throw, i);
	for (std::thread &t : threads)
		t.join();
	puts("threads, forks and exceptions go together");
	return 0;
}
