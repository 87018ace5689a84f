// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens a file in speedscope, which runs in jsdom instead of a browser, has it saved again, and
 * prints what came of that: {"messages": [..what speedscope logged..], "saved": ..its own format..}.
 *
 *	node speedscope.js CONSUMERS FILE
 *
 * CONSUMERS is the folder with node_modules. With --schema, FILE is only checked against
 * speedscope's JSON schema.
 */
"use strict";
const fs = require("fs");
const path = require("path");

const args = process.argv.slice(2).filter((arg) => arg !== "--schema");
const [consumers, file] = args;
const need = (name) => require(path.resolve(consumers, "node_modules", name));
const release = path.resolve(consumers, "node_modules/speedscope/dist/release");

function checkSchema() {
	const schema = JSON.parse(fs.readFileSync(path.join(release, "file-format-schema.json")));
	const ajv = new (need("ajv").default)({ strict: false, allErrors: false });
	const validate = ajv.compile(schema);

	if (validate(JSON.parse(fs.readFileSync(file))))
		return;
	console.error(validate.errors);
	process.exit(1);
}

function open() {
	const { JSDOM, VirtualConsole } = need("jsdom");
	const messages = [];
	const console_ = new VirtualConsole();
	const bundle = fs.readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name));

	for (const level of ["log", "info", "warn", "error", "jsdomError"])
		console_.on(level, (...words) => note(words.map((word) => word?.stack ?? String(word)).join(" ")));
	const { window } = new JSDOM("<!doctype html><body></body>", {
		url: "http://localhost/#localProfilePath=x",
		runScripts: "outside-only",
		pretendToBeVisual: true,
		virtualConsole: console_,
	});
	const finish = (saved) => {
		fs.writeSync(1, JSON.stringify({ messages, saved }));
		process.exit(saved ? 0 : 1);
	};
	/* What jsdom has not, and the import does not need. */
	const noise = /Not implemented|Could not load script|WebGL/;

	function note(message) {
		if (noise.test(message))
			return;
		messages.push(message);
		if (/^(Failed to load|Unrecognized format|Error)/.test(message))
			finish(null);
	}
	process.on("uncaughtException", (error) => { note(error.stack); finish(null); });
	window.alert = (text) => { note(text); finish(null); };
	window.matchMedia = () => ({ matches: false, addEventListener() {}, removeEventListener() {} });
	window.HTMLElement.prototype.scrollIntoView = () => {};
	window.TextDecoder = TextDecoder;
	window.TextEncoder = TextEncoder;
	window.URL.createObjectURL = (blob) => {
		const reader = new window.FileReader();

		reader.onload = () => finish(JSON.parse(reader.result));
		reader.readAsText(blob);
		return "blob:x";
	};
	window.eval(fs.readFileSync(path.join(release, bundle), "utf8"));
	const load = () => {
		if (!window.speedscope)
			return setTimeout(load, 5);
		window.speedscope.loadFileFromBase64(path.basename(file), fs.readFileSync(file).toString("base64"));
		save();
	};
	/* Ctrl-S does nothing until the profile is there. */
	const save = () => {
		window.dispatchEvent(new window.KeyboardEvent("keydown", { key: "s", code: "KeyS", ctrlKey: true, bubbles: true }));
		setTimeout(save, 20);
	};
	load();
}

if (process.argv.includes("--schema"))
	checkSchema();
else
	open();
