// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes a request of OTLP by the official definitions that OpenTelemetry's JavaScript packages
 * bring along, which have traces and metrics, and prints it as JSON (ids in base64, 64-bit numbers
 * as text). Fails if the request holds anything that they do not know.
 *
 *	node otlp.js CONSUMERS trace|metrics < REQUEST
 */
"use strict";
const fs = require("fs");
const path = require("path");

const [consumers, signal] = process.argv.slice(2);
const root = require(path.resolve(consumers,
	"node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js"));
const collector = root.opentelemetry.proto.collector;
const type = signal === "trace" ? collector.trace.v1.ExportTraceServiceRequest
	: collector.metrics.v1.ExportMetricsServiceRequest;
const body = fs.readFileSync(0);
const message = type.decode(body);
const wrong = type.verify(message);

if (wrong)
	throw new Error(wrong);
// What it does not know it has passed over, and then what it writes is shorter.
if (type.encode(message).finish().length !== body.length)
	throw new Error("the request holds more than the definitions have");
console.log(JSON.stringify(type.toObject(message, { longs: String, bytes: String, enums: String })));
