// SPDX-License-Identifier: GPL-2.0-or-later
#include "sent.h"

#include <stdlib.h>

#include "recording_file.h"

#include "calls/profile.h"
#include "fleet/id_set.h"
#include "fleet/kind.h"
#include "fleet/otlp/message.h"
#include "fleet/path_ids.h"
#include "fleet/profile_row.h"
#include "fleet/row_binary.h"
#include "record/reader.h"

static void make_otlp(const struct shipment *s)
{
	static int (*const make[])(const struct shipment *, struct otlp_request *) = {
		otlp_profiles,
		otlp_traces,
		otlp_metrics,
	};

	for (size_t i = 0; i < sizeof(make) / sizeof(*make); i++) {
		struct otlp_request r = {0};

		/* Sessions are what traces are of. */
		if (make[i] != otlp_traces || s->sessions)
			make[i](s, &r);
		proto_free(&r.body);
	}
}

static void make_rows(const struct shipment *s, struct profile *p)
{
	const struct id_set none = {0};
	struct profile *merged = NULL;
	struct path_ids ids = {0};
	struct rows rows = {0};

	if (!merge_kinds(p, &merged) && !path_ids__make(&ids, merged)) {
		functions_rows(merged, &ids, &none, &rows);
		paths_rows(merged, &ids, &none, &rows);
		for (int table = 0; table < ROW_TABLES; table++)
			for (int lack = LACKS_BOTH; lack < LACKS_NOTHING; lack++)
				check(!profile_row(s, table, lack, merged, &ids, &rows) &&
				      !rows.failed);
	}
	rows__free(&rows);
	path_ids__clear(&ids);
	profile__free(merged);
}

void sent__make(struct recorded *r, const struct sessions *sessions)
{
	const struct shipment s = {
		.run = r,
		.service = "s",
		.version = "1",
		.host = "h",
		.kernel = "k",
		.id = 1,
		.fresh = true,
		.sessions = sessions,
	};

	make_otlp(&s);
	make_rows(&s, r->profile);
}
