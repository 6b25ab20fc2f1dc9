// The page: chapters with text, viewer, plots and tables; light and dark.

/** A text whose words in backticks are commands or names. */
function worded(text) {
  return text.split("`").map((part, k) => (k % 2 ? node("code", {}, part) : part));
}

function tableOf(data) {
  const right = data.columns.map((name) => name.endsWith(">"));
  const told = (value) => (Number.isInteger(value) || typeof value !== "number" ? value : digits(value));
  const cell = (tag, value, k) =>
    node(tag, { class: right[k] ? "number" : null, "data-value": value }, String(told(value) ?? "–"));
  const rows = data.rows.map((row) => node("tr", {}, ...row.map((words, k) => cell("td", words, k))));
  const head = node(
    "thead",
    {},
    node("tr", {}, ...data.columns.map((name, k) => cell("th", name.replace(/>$/, ""), k))),
  );
  return node(
    "div",
    { class: data.columns.length > 5 && data.rows.length > 5 ? "table wide" : "table" },
    node("h4", {}, data.title),
    node(
      "div",
      { class: "scroll" },
      node("table", { "data-title": data.title }, head, node("tbody", {}, ...rows)),
    ),
    data.note ? node("p", { class: "quiet" }, ...worded(data.note)) : null,
  );
}

function chapterOf(data, index, all) {
  const chapter = node("article", { id: `chapter-${index}` });
  if (data.title) chapter.append(node("h2", {}, data.title));
  for (const text of data.text) chapter.append(node("p", { class: "prose" }, ...worded(text)));
  const viewer = data.scene && new Viewer(data.scene);
  if (viewer) {
    all.push(viewer);
    chapter.append(viewer.element);
  }
  const side = node("div", { class: "cards" });
  const beside = viewer && !viewer.rows; // the panel has room
  data.tables.forEach((table, k) => (beside && !k ? viewer.panel : side).append(tableOf(table)));
  for (const raw of data.plots) {
    const plot = new Plot(raw);
    side.append(plot.element);
    if (viewer?.clock && raw.x_label.startsWith("time")) viewer.timed.push(plot);
  }
  for (const raw of data.maps) side.append(new Heat(raw).element);
  if (side.children.length) chapter.append(side);
  return chapter;
}

function theme() {
  const order = ["auto", "light", "dark"],
    asked = matchMedia("(prefers-color-scheme: dark)");
  let chosen = "auto";
  const wear = (word) => {
    document.documentElement.dataset.theme = word === "auto" ? (asked.matches ? "dark" : "light") : word;
    window.supple.viewers.forEach((v) => v.frame(true));
  };
  const button = node(
    "button",
    {
      type: "button",
      "data-role": "theme",
      onclick: () => {
        chosen = order[(order.indexOf(chosen) + 1) % 3];
        button.textContent = `Theme: ${chosen}`;
        wear(chosen);
      },
    },
    "Theme: auto",
  );
  asked.addEventListener("change", () => wear(chosen));
  window.addEventListener("beforeprint", () => wear("light")); // paper is white
  window.addEventListener("afterprint", () => wear(chosen));
  return button;
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent),
    viewers = [];
  window.supple = { viewers };
  const chapters = data.chapters.map((chapter, i) => chapterOf(chapter, i, viewers));
  const links =
    data.chapters.length > 1
      ? node(
          "nav",
          {},
          ...data.chapters.map((c, i) => node("a", { href: `#chapter-${i}` }, c.short || c.title)),
        )
      : null;
  document.body.append(
    node(
      "header",
      {},
      node("div", {}, node("h1", {}, data.title), theme()),
      ...data.lead.map((p) => node("p", { class: "prose" }, ...worded(p))),
      links,
    ),
    node("main", {}, ...chapters),
    node("footer", {}, data.footer),
  );
  run(viewers);
}

/** Only what is on the screen moves. */
function run(viewers) {
  const seen = new Set();
  const watch = new IntersectionObserver((entries) =>
    entries.forEach((e) => {
      const viewer = viewers.find((v) => v.element === e.target);
      if (e.isIntersecting) {
        seen.add(viewer);
        viewer.frame(true);
      } else seen.delete(viewer);
    }),
  );
  viewers.forEach((v) => watch.observe(v.element));
  new ResizeObserver(() => viewers.forEach((v) => v.frame(true))).observe(document.body);
  let last = performance.now();
  const loop = (now) => {
    const dt = Math.min((now - last) / 1000, 0.1);
    last = now;
    seen.forEach((v) => v.tick(dt));
    requestAnimationFrame(loop);
  };
  requestAnimationFrame(loop);
}

start();
