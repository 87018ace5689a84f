// SPDX-License-Identifier: GPL-2.0-or-later
/* libplugin.so, for plugin_host: calls back, and throws out of what it has called. */

static void fail(int n)
{
	throw n;
}

extern "C" int plugin_run(void (*pass)(void (*then)(int), int n), int n)
{
	try {
		pass(fail, n);
	} catch (int thrown) {
		return thrown + 1;
	}
	return 0;
}
