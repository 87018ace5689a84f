// SPDX-License-Identifier: GPL-2.0-or-later
/* A third party's templates, from line to line: documents are read, changed and written by
 * rapidjson. gcov counts its lines as well: see tests/e2e/test_lines.py. */
#include <cstdio>
#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

using namespace rapidjson;

static const char *const texts[] = {
	"{\"a\":[1,2.5,-3e10,true,null],\"b\":{\"c\":\"d\\n\\u20ac\"}}",
	"[1,2,",
	"{\"x\":1}",
	"nul",
	"[12345678901234567890,0.1]",
};

template <typename W>
static size_t write(const Document &document)
{
	StringBuffer buffer;
	W writer(buffer);

	document.Accept(writer);
	return buffer.GetSize();
}

int main()
{
	size_t sum = 0;

	for (const char *text : texts) {
		Document document;

		document.Parse(text);
		if (document.HasParseError()) {
			sum += document.GetErrorOffset();
			continue;
		}
		sum += write<PrettyWriter<StringBuffer>>(document);
		if (document.IsObject()) {
			document.AddMember("new", 5, document.GetAllocator());
			for (auto &member : document.GetObject())
				sum += member.name.GetStringLength();
		}
		sum += write<Writer<StringBuffer>>(document);
	}
	std::printf("%zu\n", sum);
	return 0;
}
