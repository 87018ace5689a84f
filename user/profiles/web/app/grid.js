// SPDX-License-Identifier: GPL-2.0-or-later
// A table of any length: only the rows on the screen exist, and are used again as it scrolls. One
// row is active; keys move it. Headers are buttons that sort.

const ROW = 24; // pixels, as in page.css
const SPARE = 4; // rows beyond the screen's edges

function element(tag, className, role) {
	const el = document.createElement(tag);

	el.className = className;
	if (role)
		el.setAttribute("role", role);
	return el;
}

export class Grid {
	// columns: [{ id, title, hint, width, left, ascending }], `left` for text, `ascending` if that
	// is the way to sort first. source: count(), fill(cells, index, row), sort(id, descending),
	// and optionally select(index), activate(index), key(event, index).
	constructor(host, { id, label, tree, columns, sort, source }) {
		this.id = id;
		this.columns = columns;
		this.source = source;
		this.sorted = { id: sort, descending: true };
		this.active = 0;
		this.pool = [];
		this.stale = false; // what rows show is no longer true
		this.box = element("div", "grid", tree ? "treegrid" : "grid");
		this.box.id = id;
		this.box.tabIndex = 0;
		this.box.setAttribute("aria-label", label);
		this.box.style.setProperty("--columns", columns.map((c) => c.width).join(" "));
		// What is in them must not make columns wider: rows are laid out one by one.
		this.box.style.setProperty("--least", `${columns.reduce((sum, { width }) =>
			sum + Number(/[0-9]+/.exec(width)), 0)}px`);
		this.body = element("div", "rows", "rowgroup");
		this.box.append(this.#header(), this.body);
		host.append(this.box);
		this.box.addEventListener("scroll", () => this.draw());
		this.box.addEventListener("keydown", (e) => this.#key(e));
		this.body.addEventListener("click", (e) => this.#click(e));
		new ResizeObserver(() => this.draw()).observe(this.box);
	}

	#header() {
		const row = element("div", "row head", "row");

		row.setAttribute("aria-rowindex", "1");
		this.headers = this.columns.map((column) => {
			const cell = element("div", column.left ? "cell left" : "cell", "columnheader");
			const button = element("button", "");

			button.type = "button";
			button.textContent = column.title;
			if (column.hint)
				button.title = column.hint;
			button.addEventListener("click", () => this.sortBy(column));
			cell.append(button);
			row.append(cell);
			return cell;
		});
		return row;
	}

	sortBy(column) {
		const again = this.sorted.id === column.id;

		this.sorted = { id: column.id,
			descending: again ? !this.sorted.descending : !column.ascending };
		this.source.sort(this.sorted.id, this.sorted.descending);
	}

	// After the rows, or their order, have changed. `active` is the row to be active.
	refresh(active = this.active) {
		const count = this.source.count();

		this.body.style.height = `${count * ROW}px`;
		this.box.setAttribute("aria-rowcount", String(count + 1));
		this.headers.forEach((cell, i) => {
			const ours = this.columns[i].id === this.sorted.id;

			cell.setAttribute("aria-sort", !ours ? "none"
				: this.sorted.descending ? "descending" : "ascending");
		});
		this.active = Math.max(0, Math.min(active, count - 1));
		this.draw(true);
	}

	#room(count) {
		while (this.pool.length < count) {
			const row = element("div", "row", "row");
			const cells = this.columns.map((column) => {
				const cell = element("div", column.left ? "cell left" : "cell", "gridcell");

				row.append(cell);
				return cell;
			});

			row.id = `${this.id}-row-${this.pool.length}`;
			this.pool.push({ row, cells, index: -1 });
			this.body.append(row);
		}
	}

	// A row's place in the pool follows from its number: scrolling by one fills one.
	draw(all = false) {
		const count = this.source.count(), height = this.box.clientHeight;
		const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - SPARE);
		const shown = Math.ceil(height / ROW) + 2 * SPARE;

		// Off the screen nothing can be measured: it waits.
		this.stale ||= all;
		if (!height)
			return;
		const again = this.stale;

		this.stale = false;
		this.#room(shown);
		const size = this.pool.length;

		for (let i = first; i < first + size; i++) {
			const slot = this.pool[i % size];

			slot.row.hidden = i >= count;
			if (i >= count) {
				slot.index = -1;
				continue;
			}
			if (again || slot.index !== i) {
				slot.index = i;
				slot.row.style.transform = `translateY(${i * ROW}px)`;
				slot.row.setAttribute("aria-rowindex", String(i + 2));
				this.source.fill(slot.cells, i, slot.row);
			}
			slot.row.setAttribute("aria-selected", String(i === this.active));
		}
		this.#point(count);
	}

	// Tells which row is active; there is none in the tree of elements while it is off the screen.
	#point(count) {
		const slot = count && this.pool[this.active % this.pool.length];

		if (slot && slot.index === this.active)
			this.box.setAttribute("aria-activedescendant", slot.row.id);
		else
			this.box.removeAttribute("aria-activedescendant");
	}

	setActive(index) {
		const count = this.source.count();

		if (!count)
			return;
		this.active = Math.max(0, Math.min(index, count - 1));
		const top = this.active * ROW, height = this.box.clientHeight - ROW;

		if (top < this.box.scrollTop)
			this.box.scrollTop = top;
		else if (top + ROW > this.box.scrollTop + height)
			this.box.scrollTop = top + ROW - height;
		this.draw();
		this.source.select?.(this.active);
	}

	// The active row is to be the first on the screen, if there are enough behind it.
	toTop() {
		this.box.scrollTop = this.active * ROW;
		this.draw();
	}

	#click(e) {
		const slot = this.pool.find(({ row }) => row.contains(e.target));

		if (!slot || slot.index < 0)
			return;
		const { index } = slot;

		this.setActive(index);
		if (e.target.closest(".twisty") || e.detail === 2)
			this.source.activate?.(index);
	}

	#key(e) {
		const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 2);
		const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
			Home: -Infinity, End: Infinity };

		if (e.target !== this.box || e.altKey || e.ctrlKey || e.metaKey)
			return;
		if (e.key in moves)
			this.setActive(this.active + moves[e.key]);
		else if (e.key === "Enter")
			this.source.activate?.(this.active);
		else if (!this.source.key?.(e, this.active))
			return;
		e.preventDefault();
	}
}

// A figure: its number and its unit apart, so that they are aligned; `exact` when pointed at.
export function setFigure(cell, text, exact) {
	if (!cell.firstChild) {
		cell.append(element("span", "number"), element("span", "unit"));
	}
	const space = text.indexOf(" ");

	cell.firstChild.textContent = space < 0 ? text : text.slice(0, space);
	cell.lastChild.textContent = space < 0 ? "" : text.slice(space);
	cell.title = exact ?? "";
	cell.classList.toggle("nothing", /^0( ns)?$|^0\.0%$|^-$/.test(text));
}

// A share with a bar behind it.
export function setShare(cell, text, share) {
	setFigure(cell, text);
	cell.classList.add("share");
	cell.style.setProperty("--share", String(Math.max(0, Math.min(1, share))));
}
