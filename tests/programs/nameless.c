/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that consists of somebody else's code: Lua and the C library, linked statically. It is
 * stripped, and what is found in it then is compared with its symbols. It longjmps, and ends with 3.
 */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <stdio.h>

static unsigned long doubled;

__attribute__((noinline)) int twice(lua_State *lua)
{
	doubled++;
	lua_pushinteger(lua, 2 * luaL_checkinteger(lua, 1));
	return 1;
}

int main(void)
{
	static const char script[] =
		"local sum, ok = 0\n"
		"for i = 1, 1000 do sum = sum + twice(i) end\n"
		"for i = 1, 10 do ok = pcall(error, 'thrown') end\n" /* by longjmp */
		"local co = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end)\n"
		"for i = 1, 5 do sum = sum + co() end\n"
		"local t = {} for i = 1, 100 do t[i] = tostring(i * 7919 % 101) end\n"
		"table.sort(t)\n"
		"print(sum, ok, table.concat(t, ' '))\n";
	lua_State *lua = luaL_newstate();

	luaL_openlibs(lua);
	lua_register(lua, "twice", twice);
	if (luaL_dostring(lua, script)) {
		fprintf(stderr, "%s\n", lua_tostring(lua, -1));
		return 1;
	}
	lua_close(lua);
	printf("COUNT twice %lu\n", doubled);
	return 3;
}
