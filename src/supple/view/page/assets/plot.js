// Line plots in SVG with the values under the pointer.

const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8a8f98"];
const DASHES = ["", "7 3", "2 3"];
const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes = {}, words = "") {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (words) node.textContent = words;
  return node;
}

function node(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Draw again, one unit a pixel, whenever a drawing's place gets another width. */
function fitted(chart) {
  const fit = () => {
    const width = Math.round(chart.drawing.parentNode.clientWidth);
    if (!width || width === chart.width) return;
    chart.width = width;
    chart.draw();
  };
  new ResizeObserver(fit).observe(chart.drawing.parentNode);
}
/** Beside the place that is pointed at, on the side with more room; on a narrow chart at its edge. */
function placeTip(tip, where, width) {
  const side = (share) => (width < 480 ? "0" : `calc(${(100 * share).toFixed(1)}% + 14px)`);
  tip.style.left = where < 0.5 === width >= 480 ? side(where) : "auto";
  tip.style.right = where < 0.5 === width >= 480 ? "auto" : side(1 - where);
}
/** Show values where a chart is pointed at; those of a finger stay until another place is touched. */
function pointed(drawing, show, hide) {
  drawing.addEventListener("pointermove", show);
  drawing.addEventListener("pointerdown", show);
  drawing.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
  document.addEventListener("pointerdown", (event) => drawing.contains(event.target) || hide());
}
/** A value on an axis: at most six digits, large and small ones with a power of ten. */
function tickWords(v) {
  const near = Number(v.toPrecision(6)),
    size = Math.abs(near);
  return size >= 1e5 || (size && size < 1e-3) ? near.toExponential().replace("e+", "e") : String(near);
}

class Plot {
  constructor(data) {
    Object.assign(this, { width: 640, data });
    this.drawing = svg("svg", { role: "img", "aria-label": data.title });
    this.tip = node("div", { class: "tip", hidden: true });
    this.element = node(
      "figure",
      { class: "plot" },
      node("figcaption", {}, data.title),
      node("div", { class: "plot-box" }, this.drawing, this.tip),
    );
    if (data.note) this.element.append(node("p", { class: "quiet" }, data.note));
    this.measure();
    this.draw();
    this.pointer();
    fitted(this);
  }

  draw() {
    const { width, data } = this;
    this.height = Math.round(Math.min(Math.max(0.56 * width, 210), 340));
    const longest = Math.max(...data.series.map((s) => (s.short || s.name).length));
    this.labelled = data.series.length > 1 || data.series[0].short;
    const right = this.labelled ? Math.min(20 + 7 * longest, 0.3 * width) : 16;
    this.margin = { left: 62, right, top: 14, bottom: 44 };
    const rows = (this.height - 58) / 50;
    this.yTicks = data.log ? logTicks(this.y0, this.y1, rows + 3) : ticks(this.y0, this.y1, rows, data.y_label);
    this.margin.left = 30 + 7 * Math.max(...this.yTicks.map((y) => tickWords(y).length), 2);
    this.drawing.replaceChildren();
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.axes();
    this.lines();
    if (this.marked) this.mark(...this.marked);
  }

  measure() {
    const all = (key, drawn) => this.data.series.flatMap((s) => s[key]).filter(drawn);
    const [x, y] = [all("x", Number.isFinite), all("y", (v) => this.drawn(v))];
    const ends = (values) => (values.length ? [Math.min(...values), Math.max(...values)] : [0.1, 1]);
    [this.x0, this.x1] = ends(x);
    let [low, high] = ends(y);
    if (this.data.log) {
      low /= 1.15;
      high *= 1.15;
    } else {
      const room = (high - low || Math.abs(high) || 1) * 0.06;
      low -= room;
      high += room;
    }
    this.y0 = low;
    this.y1 = high;
  }
  /** Whether a value has a place on the axis. */
  drawn(y) {
    return Number.isFinite(y) && (!this.data.log || y > 0);
  }
  px(x) {
    const { left, right } = this.margin;
    return left + ((x - this.x0) / (this.x1 - this.x0 || 1)) * (this.width - left - right);
  }
  py(y) {
    const { top, bottom } = this.margin,
      h = this.height - top - bottom;
    const f = this.data.log
      ? Math.log(y / this.y0) / Math.log(this.y1 / this.y0)
      : (y - this.y0) / (this.y1 - this.y0);
    return this.height - bottom - f * h;
  }

  axes() {
    const { left, right, top, bottom } = this.margin,
      floor = this.height - bottom;
    const inner = this.width - left - right;
    for (const x of ticks(this.x0, this.x1, Math.min(Math.max(inner / 70, 2), 8), this.data.x_label)) {
      this.drawing.append(
        svg("line", { x1: this.px(x), x2: this.px(x), y1: top, y2: floor, class: "rule" }),
        svg("text", { x: this.px(x), y: floor + 17, "text-anchor": "middle" }, tickWords(x)),
      );
    }
    for (const y of this.yTicks) {
      this.drawing.append(
        svg("line", {
          x1: left,
          x2: this.width - right,
          y1: this.py(y),
          y2: this.py(y),
          class: "rule",
        }),
        svg("text", { x: left - 7, y: this.py(y) + 4, "text-anchor": "end" }, tickWords(y)),
      );
    }
    this.drawing.append(
      svg(
        "text",
        { x: (left + this.width - right) / 2, y: this.height - 8, "text-anchor": "middle" },
        this.data.x_label,
      ),
      svg(
        "text",
        {
          x: 0,
          y: 0,
          "text-anchor": "middle",
          transform: `translate(14 ${(top + floor) / 2}) rotate(-90)`,
        },
        this.data.y_label,
      ),
    );
  }

  colour(k) {
    return PALETTE[k % PALETTE.length];
  }
  lines() {
    this.paths = this.data.series.map((s, k) => {
      let d = "",
        pen = "M";
      s.x.forEach((x, i) => {
        if (!this.drawn(s.y[i])) {
          pen = "M";
          return;
        }
        d += `${pen}${this.px(x).toFixed(1)} ${this.py(s.y[i]).toFixed(1)}`;
        if (pen === "M") d += "h.01"; // a point of its own is a dot
        pen = "L";
      });
      const path = svg("path", {
        d,
        stroke: this.colour(k),
        class: "curve",
        "stroke-dasharray": s.marks ? "none" : DASHES[Math.floor(k / PALETTE.length) % 3],
      });
      if (s.marks) path.setAttribute("stroke", "none");
      this.drawing.append(path);
      if (s.marks)
        s.x.forEach((x, i) => this.drawn(s.y[i]) &&
          this.drawing.append(
            svg("circle", {
              cx: this.px(x),
              cy: this.py(s.y[i]),
              r: 4.5,
              fill: "none",
              stroke: this.colour(k),
              "stroke-width": 2,
            }),
          ),
        );
      return path;
    });
    this.endLabels();
    this.marker = svg("line", {
      y1: this.margin.top,
      y2: this.height - this.margin.bottom,
      class: "marker",
      visibility: "hidden",
    });
    this.dot = svg("circle", { r: 5, class: "dot", visibility: "hidden" });
    this.cursor = svg("line", {
      y1: this.margin.top,
      y2: this.height - this.margin.bottom,
      class: "cursor",
      visibility: "hidden",
    });
    this.drawing.append(this.marker, this.dot, this.cursor);
  }
  endLabels() {
    if (!this.labelled) return;
    const last = (s) => s.y.findLast((v) => this.drawn(v)) ?? this.y0;
    const ends = this.data.series.map((s, k) => ({ k, y: this.py(last(s)) + 4 }));
    ends.sort((a, b) => b.y - a.y);
    const floor = this.height - this.margin.bottom + 6,
      gap = Math.min(12, (floor - this.margin.top) / ends.length);
    ends.forEach((end, i) => (end.y = Math.min(end.y, i ? ends[i - 1].y - gap : floor)));
    let top = this.margin.top + 2; // those that were pushed out of the drawing come back into it
    for (const end of [...ends].reverse()) {
      end.y = Math.max(end.y, top);
      top = end.y + gap;
    }
    const every = Math.ceil(9 / gap); // fewer labels where there is no room for all
    for (const { k, y } of ends) {
      if (k % every) continue;
      this.drawing.append(
        svg(
          "text",
          {
            x: this.width - this.margin.right + 5,
            y,
            style: `fill:${this.colour(k)}`,
            class: "end",
          },
          this.data.series[k].short || this.data.series[k].name,
        ),
      );
    }
  }

  /** Mark the current x, and the curve that is picked. */
  mark(x, picked, y) {
    this.marked = [x, picked, y];
    const show = x === null ? "hidden" : "visible";
    this.marker.setAttribute("visibility", show);
    this.dot.setAttribute("visibility", Number.isFinite(y) ? show : "hidden");
    if (x === null) return;
    this.marker.setAttribute("x1", this.px(x));
    this.marker.setAttribute("x2", this.px(x));
    if (Number.isFinite(y)) {
      this.dot.setAttribute("cx", this.px(x));
      this.dot.setAttribute("cy", this.py(y));
      this.dot.setAttribute("fill", this.colour(picked));
    }
    this.paths.forEach((path, k) => path.classList.toggle("picked", k === picked));
  }

  pointer() {
    const move = (event) => {
      const box = this.drawing.getBoundingClientRect();
      const at = event.clientX - box.left;
      const x =
        this.x0 +
        ((at - this.margin.left) / (this.width - this.margin.left - this.margin.right)) * (this.x1 - this.x0);
      this.hover(Math.min(Math.max(x, this.x0), this.x1), (event.clientX - box.left) / box.width);
    };
    pointed(this.drawing, move, () => {
      this.tip.hidden = true;
      this.cursor.setAttribute("visibility", "hidden");
    });
  }
  hover(x, where) {
    const nearest = (s) =>
      s.x.reduce((best, v, i) => (Math.abs(v - x) < Math.abs(s.x[best] - x) ? i : best), 0);
    const first = this.data.series[0],
      seen = first.x[nearest(first)];
    const rows = this.data.series.map((s, k) =>
      node(
        "div",
        {},
        node("i", { style: `background:${this.colour(k)}` }),
        `${s.name}: ${digits(s.y[nearest(s)], 5)}`,
      ),
    );
    const words = node("b", {}, `${this.data.x_label}: ${Number(seen.toPrecision(5))}`);
    this.tip.replaceChildren(words, node("div", { class: rows.length > 9 ? "many" : null }, ...rows));
    this.tip.hidden = false;
    placeTip(this.tip, where, this.width);
    this.cursor.setAttribute("x1", this.px(seen));
    this.cursor.setAttribute("x2", this.px(seen));
    this.cursor.setAttribute("visibility", "visible");
  }
}
