// The parts of a viewer's panel: mode list, sliders, playback, looks. Each takes its viewer.

const COLOURINGS = { plain: "plain", displacement: "displacement", energy: "strain energy" };
const SPEEDS = [0.1, 0.25, 0.5, 1, 2];

function toolsOf(v) {
  const button = (name, words, act) =>
    node("button", { type: "button", "data-role": name, onclick: act }, words);
  v.playButton = button("play", "Pause", () => v.play(!v.state.playing));
  return node(
    "div",
    { class: "tools" },
    v.scene.shapes.length || v.clock ? v.playButton : null,
    button("home", "Reset view", () => {
      v.camera.reset();
      v.frame(true);
    }),
    button("names", "Names", () => {
      v.state.names = !v.state.names;
      v.frame(true);
    }),
    button("save", "Save picture", () => v.savePicture()),
  );
}

function modeListOf(v) {
  v.rows = v.scene.shapes.map((shape, m) =>
    node(
      "tr",
      {
        "data-mode": m,
        tabindex: "0",
        role: "radio",
        onclick: () => v.pick(m),
        onkeydown: (e) => rowKey(v, m, e),
      },
      node("td", {}, String(shape.number)),
      node("td", { class: "number", "data-role": "hertz" }),
      node("td", {}, shape.kind),
    ),
  );
  v.shown = node("span", { class: "badge", "data-role": "computed" });
  return node(
    "div",
    { class: "block modes" },
    node("h4", {}, "Modes ", v.shown),
    node(
      "div",
      { class: "scroll" },
      node(
        "table",
        { role: "radiogroup" },
        node(
          "thead",
          {},
          node(
            "tr",
            {},
            node("th", {}, "mode"),
            node("th", { class: "number" }, "Hz"),
            node("th", {}, "kind"),
          ),
        ),
        node("tbody", {}, ...v.rows),
      ),
    ),
  );
}

/** Enter and space pick a row; up and down go to the next one, as in any list. */
function rowKey(v, m, event) {
  const step = { Enter: 0, " ": 0, ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const next = Math.min(Math.max(m + step, 0), v.rows.length - 1);
  v.pick(next);
  v.rows[next].focus();
}

/** A heading with its sliders, nothing where there are none. */
function sliderGroup(title, inputs) {
  if (!inputs.length) return [];
  const badge = node("span", { class: "badge" }, "one at a time");
  return [node("h4", {}, `${title} `, badge), ...inputs.map(({ label }) => label)];
}

function slidersOf(v) {
  const moving = v.tracks
    .map((t, k) => ({ t, k }))
    .filter(({ t }) => ["joint", "configuration", "parameter"].includes(t.kind));
  if (!moving.length) return null;
  v.inputs = moving.map(({ t, k }) => {
    const low = t.at[0],
      high = t.at[t.at.length - 1];
    const out = node("output", { "data-role": "value" });
    const input = node("input", {
      type: "range",
      min: low,
      max: high,
      step: "any",
      "aria-label": t.name,
      "data-track": k,
      oninput: () => v.move(k, Number(input.value)),
    });
    return { k, t, input, out, label: node("label", {}, node("span", {}, t.name), out, input) };
  });
  const back = node(
    "button",
    { type: "button", "data-role": "back", onclick: () => v.move(0, v.tracks[0].start) },
    v.tracks.some((t) => t.kind === "parameter") ? "Back to the robot asked for" : "Back to the pose asked for",
  );
  v.note = node("p", { class: "quiet", "data-role": "note" });
  return node(
    "div",
    { class: "block" },
    ...sliderGroup("Pose", v.inputs.filter(({ t }) => t.kind !== "parameter")),
    ...sliderGroup("Dimensions and stiffnesses", v.inputs.filter(({ t }) => t.kind === "parameter")),
    v.note,
    v.tracks[0].kind === "pose" ? back : null,
  );
}

function playbackOf(v) {
  const { at } = v.clock,
    last = at[at.length - 1];
  v.scrub = node("input", {
    type: "range",
    min: at[0],
    max: last,
    step: "any",
    "aria-label": "time",
    "data-role": "scrub",
    oninput: () => {
      v.play(false);
      v.seek(Number(v.scrub.value));
    },
  });
  v.time = node("output", { "data-role": "time" });
  const speed = node(
    "select",
    {
      "aria-label": "speed",
      "data-role": "speed",
      onchange: () => {
        v.state.speed = Number(speed.value);
      },
    },
    ...SPEEDS.map((s) => node("option", { value: s, selected: s === 1 }, `${s} ×`)),
  );
  return node(
    "div",
    { class: "block" },
    node("h4", {}, "Time"),
    node("label", {}, node("span", {}, "t"), v.time, v.scrub),
    node("label", {}, node("span", {}, "speed"), speed),
  );
}

function looksOf(v) {
  const size = node("input", {
    type: "range",
    min: 0,
    max: v.scene.scale ? 4 : 2,
    step: 0.01,
    value: 1,
    "aria-label": "amplitude",
    "data-role": "amplitude",
    oninput: () => {
      v.state.amplitude = Number(size.value);
      much.textContent = told();
      v.show();
    },
  });
  const true_size = node(
    "button",
    {
      type: "button",
      "data-role": "true-size",
      onclick: () => {
        size.value = v.state.amplitude = v.state.amplitude === 1 ? 1 / v.scene.scale : 1;
        much.textContent = told();
        v.show();
      },
    },
    "As large as it is, and back",
  );
  const told = () => `${Number((v.state.amplitude * (v.scene.scale ?? 1)).toPrecision(3))} ×`;
  const much = node("output", { "data-role": "much" }, told());
  const colour = node(
    "select",
    {
      "aria-label": "colour",
      "data-role": "colouring",
      onchange: () => {
        v.state.colouring = colour.value;
        legendFor(v);
        v.frame(true);
      },
    },
    ...Object.entries(COLOURINGS)
      .filter(([key]) => key !== "energy" || strained(v))
      .map(([key, words]) => node("option", { value: key, selected: key === v.state.colouring }, words)),
  );
  legendFor(v);
  return node(
    "div",
    { class: "block" },
    node("h4", {}, "Look"),
    v.scene.true_scale
      ? null
      : node("label", {}, node("span", {}, v.scene.scale ? "bending, times larger" : "amplitude"), much, size),
    v.scene.scale > 1 ? true_size : null,
    node("label", {}, node("span", {}, "colour by"), colour),
  );
}

function strained(v) {
  return v.tracks.some((t) => t.energy.data.some((v) => v > 0));
}

function legendFor(v) {
  const field = v.state.colouring,
    what = { displacement: v.scene.moved, energy: "strain energy per length" }[field];
  const { largest } = v.tracks[0];
  const top = !largest.length
    ? "largest"
    : field === "energy"
      ? sized(largest[1], "J/m")
      : sized(largest[0], "m");
  const row = (name, low, high) =>
    node("div", {}, name, node("span", {}, low, node("i", {}), high));
  const rows = what ? [row(what, "0", top)] : [];
  if (v.scene.cloud) {
    const { values, name, unit } = v.scene.cloud,
      [low, high] = [Math.min(...values), Math.max(...values)];
    const words = digits(low, 4) === digits(high, 4) ? ", the same everywhere" : scaleWords(low, high);
    rows.unshift(row(`dots: ${name}${words}`, digits(low, 4), `${digits(high, 4)} ${unit}`));
  }
  v.legend.replaceChildren(...rows);
}

/** The track along which frequencies change most: the one worth showing first. */
function mostTelling(tracks) {
  const change = ({ hertz }) =>
    hertz.length > 1
      ? Math.max(...hertz[0].map((_, m) => Math.max(...hertz.map((r) => r[m])) / Math.min(...hertz.map((r) => r[m]))))
      : 0;
  const each = tracks.map(change);
  return each.lastIndexOf(Math.max(...each));
}

function trackPlotsOf(v) {
  return v.tracks.map((t) => {
    if (t.values.length < 2) return null;
    const series = v.scene.shapes.map((shape, m) => ({
      name: `mode ${shape.number}`,
      short: String(shape.number),
      x: Array.from(t.values),
      y: t.hertz.map((row) => row[m]),
    }));
    return new Plot({
      title: `Natural frequencies along ${t.name}`,
      x_label: `${t.name} (${t.unit || "number"})`,
      y_label: "frequency (Hz)",
      log: true,
      series,
    });
  });
}
