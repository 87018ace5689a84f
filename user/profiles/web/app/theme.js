// SPDX-License-Identifier: GPL-2.0-or-later
// Light or dark: as the system has it, until somebody says otherwise.

export class Theme {
	constructor(button) {
		const system = matchMedia("(prefers-color-scheme: dark)");

		this.button = button;
		this.chosen = false;
		this.listeners = [];
		system.addEventListener("change", () => this.chosen || this.#set(system.matches));
		button.addEventListener("click", () => {
			this.chosen = true;
			this.#set(!this.dark);
		});
		this.#set(system.matches);
	}

	#set(dark) {
		this.dark = dark;
		document.documentElement.dataset.theme = dark ? "dark" : "light";
		this.button.textContent = dark ? "Light" : "Dark";
		this.button.title = `Switch to ${dark ? "light" : "dark"} colours`;
		const style = getComputedStyle(document.documentElement);

		this.colors = Object.fromEntries(["text", "dim", "faint", "line", "page", "panel", "accent"]
			.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
		for (const listener of this.listeners)
			listener();
	}

	onChange(listener) {
		this.listeners.push(listener);
	}
}

export const MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
export const SANS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
