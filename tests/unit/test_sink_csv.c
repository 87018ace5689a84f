// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#define HEAD                                                                           \
	"path,caller,depth,pid,tid,goroutine,comm,function,symbol,module,offset,file," \
	"line,calls,total_ns,self_ns,off_ns,off_self_ns,cpu_ns,cpu_self_ns,"           \
	"raw_total_ns,raw_self_ns,error_ns,self_error_ns,min_ns,max_ns,kind,whole,"    \
	"whole_until_ns,source,calls_error,cpu_error_ns,samples,durations\r\n"

static const struct sink_options plain;

static void test_paths(void **state)
{
	struct profile *p = fixture_new();
	uint32_t n;

	fixture_function(p, "ma\"in, 1");
	fixture_function(p, "=1+1");
	p->functions[0].file = "m.c";
	p->functions[0].line = 12;
	p->functions[1].symbol = "-x";
	p->functions[1].module = NULL;
	p->functions[1].kind = FUNCTION_REGION;
	fixture_thread(p, 10, 11, "a\nb");
	fixture_thread(p, 10, 0, "go");
	p->threads[p->threads_cnt - 1].goroutine = 7;
	n = fixture_node(p, 0, 0, 0, 0, 100, 40);
	fixture_node(p, 0, n, 1, 2, 60, 60);
	fixture_node(p, 1, 0, 1, 1, 5, 5);
	p->nodes[1].stats.off_ns = p->nodes[1].stats.off_self_ns = 30;
	p->nodes[1].stats.raw_total_ns = 120;
	p->nodes[1].stats.raw_self_ns = 50;
	p->nodes[1].stats.error_ns = 9;
	p->nodes[1].stats.self_error_ns = 8;
	p->nodes[2].stats.max_ns = 31;
	fixture_finish(p);
	fixture_expect(&sink_csv, p, &plain,
		       HEAD "1,,0,10,11,,\"a b\",\"ma\"\"in, 1\",\"ma\"\"in, 1\","
			    "\"/usr/bin/prog\",4096,\"m.c\",12,"
			    "0,100,40,30,30,70,10,120,50,9,8,,,function,1,,exact,0,0,0,all\r\n"
			    "2,1,1,10,11,,\"a b\",\"'=1+1\",\"'-x\",\"\",4096,\"\",,"
			    "2,60,60,0,0,60,60,60,60,0,0,30,31,region,1,,exact,0,0,0,all\r\n"
			    "3,,0,10,,7,\"go\",\"'=1+1\",\"'-x\",\"\",4096,\"\",,"
			    "1,5,5,0,0,5,5,5,5,0,0,5,5,region,1,,exact,0,0,0,all\r\n");
	profile__free(p);
}

/* The symbol that its name comes from is another function's, which has calls. */
static void test_inlined(void **state)
{
	struct profile *p = fixture_new();

	fixture_function(p, "parse (inlined)");
	p->functions[0].symbol = "parse";
	p->functions[0].kind = FUNCTION_INLINED;
	fixture_thread(p, 10, 11, "prog");
	fixture_node(p, 0, 0, 0, 0, 100, 100);
	fixture_finish(p);
	fixture_expect(&sink_csv, p, &plain,
		       HEAD "1,,0,10,11,,\"prog\",\"parse (inlined)\",\"\",\"/usr/bin/prog\","
			    "4096,\"\",,0,100,100,0,0,100,100,100,100,0,0,,,inlined,1,,exact,0,0,0,"
			    "all\r\n");
	profile__free(p);
}

static void test_nothing(void **state)
{
	struct profile *p = fixture_new();

	fixture_finish(p);
	fixture_expect(&sink_csv, p, &plain, HEAD);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
