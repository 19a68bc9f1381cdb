// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that wait for a std::mutex, whose functions the compiler inlines from a header of the system.
#include <atomic>
#include <mutex>
#include <thread>
#include <unistd.h>

static std::mutex first, second;
static std::atomic<int> ready;
static volatile int n;

__attribute__((noinline)) static void worker(int rounds, int)
{
	ready++;
	while (ready < 2)
		usleep(100);
	for (int i = 0; i < rounds; i++) {
		std::lock_guard<std::mutex> hold(first); // guard
		usleep(2000);
		n = n + 1;
	}
	std::unique_lock<std::mutex> other(second); // unique
	usleep(2000);
}

int main()
{
	std::thread a(worker, 50, 0), b(worker, 50, 1);
	a.join();
	b.join();
	return 0;
}
