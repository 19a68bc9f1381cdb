// SPDX-License-Identifier: GPL-3.0-or-later
// An exception that nobody catches: terminate handler, message, abort.
/* strobe-test: exit=134 */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

int
main(int argc, char **)
{
	std::set_terminate([] {
		try {
			throw;
		} catch (const std::exception &e) {
			std::printf("terminated by: %s\n", e.what());
			std::fflush(stdout);
		}
		std::abort();
	});
	if (argc > 0)
		throw std::runtime_error("nobody catches this");
	return 0;
}
