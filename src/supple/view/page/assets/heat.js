// A value over a plane in colours, with its value under the pointer.

class Heat {
  constructor(data) {
    Object.assign(this, { data, width: 440 });
    this.drawing = svg("svg", { role: "img", "aria-label": data.title, "data-role": "heat" });
    this.tip = node("div", { class: "tip", hidden: true });
    const [low, high] = data.span;
    this.ends = [low, high].map((v) => node("span", {}, `${digits(v, 4)} ${data.label}`));
    this.element = node(
      "figure",
      { class: "plot heat" },
      node("figcaption", {}, data.title),
      node("div", { class: "plot-box" }, this.drawing, this.tip),
      node(
        "div",
        { class: "bar" },
        this.ends[0],
        node("i", {}),
        this.ends[1],
      ),
    );
    if (data.choices.length) this.sliders();
    const gaps = this.data.values.some((row) => row.includes(null)) ? "grey: out of reach" : "";
    const note = [data.note, scaleWords(low, high).replace(/^, /, ""), gaps].filter(Boolean).join("; ");
    if (note) this.element.append(node("p", { class: "quiet" }, note));
    this.draw();
    this.pointer();
    fitted(this);
  }

  /** One slider for each axis in front of the plane; `all` keeps every plane. */
  sliders() {
    const all = this.data.values,
      stops = this.data.choices.map(() => 0);
    this.data = { ...this.data, values: stops.reduce((part, k) => part[k], all) };
    const labels = this.data.choices.map(({ name, words }, k) => {
      const out = node("output", { "data-role": "value" }, words[0]);
      const input = node("input", {
        type: "range",
        min: 0,
        max: words.length - 1,
        step: 1,
        value: 0,
        "aria-label": name,
        oninput: () => {
          stops[k] = Number(input.value);
          out.textContent = words[stops[k]];
          this.data.values = stops.reduce((part, at) => part[at], all);
          this.data.span = this.data.spans[stops[0]] ?? this.data.span;
          this.ends.forEach((end, i) => (end.textContent = `${digits(this.data.span[i], 4)} ${this.data.label}`));
          this.draw();
        },
      });
      return node("label", {}, node("span", {}, name), out, input);
    });
    this.element.append(node("div", { class: "block" }, ...labels));
  }

  draw() {
    const { x, y, x_label, y_label } = this.data;
    this.margin = { left: 58, right: 16, top: 10, bottom: 42 };
    const inner = this.width - this.margin.left - this.margin.right;
    const same = x_label.endsWith("(m)") === y_label.endsWith("(m)");
    const tall = same ? Math.min(Math.max((y[y.length - 1] - y[0]) / (x[x.length - 1] - x[0]), 0.4), 0.9) : 0.7;
    this.height = Math.round(inner * tall) + this.margin.top + this.margin.bottom;
    this.drawing.replaceChildren();
    this.drawing.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.cells();
    this.axes();
  }

  /** Edges of the cells around rising values. */
  edges(values) {
    const middle = values.slice(1).map((v, k) => (v + values[k]) / 2);
    return [2 * values[0] - middle[0], ...middle, 2 * values[values.length - 1] - middle[middle.length - 1]];
  }
  cells() {
    const { x, y, values, span } = this.data;
    this.ex = this.edges(x);
    this.ey = this.edges(y);
    const { left, right, top, bottom } = this.margin;
    const ground = { x: left, y: top, width: this.width - left - right, height: this.height - top - bottom };
    this.drawing.append(svg("rect", { ...ground, class: "ground" }));
    values.forEach((row, j) =>
      row.forEach((value, i) => {
        if (value === null) return;
        const [a, b] = [this.px(this.ex[i]), this.px(this.ex[i + 1])];
        const [c, d] = [this.py(this.ey[j + 1]), this.py(this.ey[j])];
        const fill = css(mapped(share(value, ...span)));
        this.drawing.append(
          svg("rect", {
            x: a.toFixed(1),
            y: c.toFixed(1),
            width: (b - a + 0.4).toFixed(1),
            height: (d - c + 0.4).toFixed(1),
            "shape-rendering": "crispEdges",
            fill,
          }),
        );
      }),
    );
  }
  px(x) {
    const { left, right } = this.margin,
      e = this.ex;
    return left + ((x - e[0]) / (e[e.length - 1] - e[0])) * (this.width - left - right);
  }
  py(y) {
    const { top, bottom } = this.margin,
      e = this.ey;
    return (
      this.height - bottom - ((y - e[0]) / (e[e.length - 1] - e[0])) * (this.height - top - bottom)
    );
  }
  axes() {
    const { left, bottom } = this.margin,
      floor = this.height - bottom,
      { x, y } = this.data;
    const words = (attributes, text) => this.drawing.append(svg("text", attributes, text));
    for (const v of ticks(x[0], x[x.length - 1], 4, this.data.x_label))
      words({ x: this.px(v), y: floor + 15, "text-anchor": "middle" }, tickWords(v));
    for (const v of ticks(y[0], y[y.length - 1], 4, this.data.y_label))
      words({ x: left - 6, y: this.py(v) + 4, "text-anchor": "end" }, tickWords(v));
    words({ x: (left + this.width) / 2, y: this.height - 6, "text-anchor": "middle" }, this.data.x_label);
    const turn = `translate(13 ${(floor / 2).toFixed(0)}) rotate(-90)`;
    words({ "text-anchor": "middle", transform: turn }, this.data.y_label);
  }
  pointer() {
    const inside = (edges, v) => edges.findLastIndex((e) => e <= v);
    const show = (event) => {
      const box = this.drawing.getBoundingClientRect(),
        scale = this.width / box.width,
        { left, right, top, bottom } = this.margin;
      const [u, v] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      const [ex, ey] = [this.ex, this.ey];
      const x = ex[0] + ((u - left) / (this.width - left - right)) * (ex[ex.length - 1] - ex[0]);
      const h = this.height - top - bottom;
      const y = ey[0] + ((this.height - bottom - v) / h) * (ey[ey.length - 1] - ey[0]);
      const [i, j] = [inside(ex, x), inside(ey, y)];
      const value = this.data.values[j]?.[i];
      this.tip.hidden = value === undefined;
      if (value === undefined) return;
      const named = (label, value) => node("div", {}, `${label}: ${Number(value.toPrecision(4))}`);
      const told = value === null ? "out of reach" : `${digits(value, 5)} ${this.data.label}`;
      this.tip.replaceChildren(
        node("b", {}, told),
        named(this.data.x_label, this.data.x[i]),
        named(this.data.y_label, this.data.y[j]),
      );
      placeTip(this.tip, u / this.width, this.width);
    };
    pointed(this.drawing, show, () => (this.tip.hidden = true));
  }
}
