/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library that is loaded, used and unloaded three times. */
#include <dlfcn.h>
#include <stdio.h>

int
main(void)
{
	for (int i = 0; i < 3; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW);
		double (*cube_root)(double) = (double (*)(double))dlsym(library, "cbrt"), sum = 0;
		for (int k = 0; k < 1000; k++)
			sum += cube_root(k);
		printf("%.3f\n", sum);
		dlclose(library);
	}
	return 0;
}
