// The viewer of one Scene: picture, mode list, sliders, playback. Reads tracks, computes nothing.

let viewers = 0;

/** The eight corners of a box, given by its lowest and highest one. */
function boxCorners(box) {
  if (!box?.length) return [];
  return Array.from({ length: 8 }, (_, k) => [0, 1, 2].map((axis) => box[(k >> axis) & 1][axis]));
}

class Viewer {
  constructor(scene) {
    this.scene = scene;
    this.id = `viewer-${viewers++}`;
    this.tracks = scene.tracks.map((raw) => new Track(raw, scene.parents, 1e-4 * scene.extent));
    this.clock = this.tracks.find((t) => t.kind === "time");
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.state = {
      track: 0,
      x: this.tracks[0].start,
      mode: 0,
      amplitude: 1,
      speed: 1,
      phase: 0,
      colouring: scene.true_scale ? "plain" : "displacement",
      playing: !calm && Boolean(scene.shapes.length || this.clock),
      names: false,
    };
    this.timed = []; // plots over time, marked at the present
    this.camera = new Camera(scene.up, scene.planar);
    this.build();
    this.painter = new Painter(this.canvas);
    this.figure = new Figure(scene, this.painter);
    steer(this);
    this.pick(0);
    this.frame(true);
  }

  get track() {
    return this.tracks[this.state.track];
  }

  build() {
    this.canvas = node("canvas", {
      tabindex: "0",
      role: "img",
      "data-role": "picture",
      "aria-label": `${this.scene.title}, drag to turn, pinch or scroll to zoom`,
    });
    this.legend = node("div", { class: "legend", "data-role": "legend" });
    this.readout = node("div", { class: "readout", "data-role": "readout" });
    const stage = node("div", { class: "stage" }, this.canvas, this.readout, this.legend, toolsOf(this));
    this.panel = node("div", { class: "panel" });
    if (this.scene.shapes.length > 1 || this.scene.shapes[0]?.frequency_hz)
      this.panel.append(modeListOf(this));
    const sliders = slidersOf(this);
    if (sliders) this.panel.append(sliders);
    if (this.clock) this.panel.append(playbackOf(this));
    if (this.scene.shapes.length || this.clock) this.panel.append(looksOf(this));
    const left = node("div", { class: "left" }, stage);
    this.element = node("section", { class: "viewer", id: this.id, "data-role": "viewer" }, left, this.panel);
    this.plots = trackPlotsOf(this);
    this.telling = this.plots[mostTelling(this.tracks)];
    if (this.telling) {
      this.plotPlace = node("div", {});
      left.append(this.plotPlace);
    }
    const notes = this.scene.notes.join(" ");
    if (notes) left.append(node("p", { class: "quiet" }, notes));
  }

  // -- what the reader does ------------------------------------------------------------------

  pick(mode) {
    this.state.mode = mode;
    this.rows?.forEach((row, m) => {
      row.classList.toggle("picked", m === mode);
      row.setAttribute("aria-checked", String(m === mode));
    });
    this.show();
  }
  move(track, x) {
    Object.assign(this.state, { track, x });
    this.show();
  }
  seek(x) {
    Object.assign(this.state, { track: this.tracks.indexOf(this.clock), x });
    this.show();
  }
  play(on) {
    this.state.playing = on;
    this.playButton.textContent = on ? "Pause" : "Play";
  }
  savePicture() {
    this.captioned().toBlob((blob) => {
      const link = node("a", { href: URL.createObjectURL(blob), download: `${this.scene.title}.png` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  /** The picture on its own ground, with what is written over it. */
  captioned() {
    const { width, height, clientWidth } = this.canvas,
      copy = Object.assign(document.createElement("canvas"), { width, height }),
      g = copy.getContext("2d"),
      ratio = width / clientWidth;
    const read = (name) => getComputedStyle(this.element).getPropertyValue(name).trim();
    g.fillStyle = read("--stage");
    g.fillRect(0, 0, width, height);
    g.drawImage(this.canvas, 0, 0);
    g.scale(ratio, ratio);
    [...this.readout.children].forEach((line, k) => {
      g.font = `${k ? "12px" : "600 17px"} system-ui, sans-serif`;
      g.fillStyle = read(k ? "--quiet" : "--ink");
      g.fillText(line.textContent, 13, 26 + 19 * k, clientWidth - 26);
    });
    return copy;
  }

  /** Write the numbers of the current pose, then draw. */
  show() {
    const { hz, computed } = this.track.frequencies(this.state.x);
    this.rows?.forEach((row, m) => {
      const cell = row.querySelector("[data-role=hertz]");
      cell.textContent = hz.length ? digits(hz[m]) : "–";
      cell.dataset.hz = hz[m];
      row.lastChild.textContent = this.track.kindAt(this.state.x, m) ?? this.scene.shapes[m].kind;
    });
    if (this.shown) this.shown.textContent = computed ? "computed" : "interpolated";
    this.inputs?.forEach(({ k, t, input, out }) => {
      const x = k === this.state.track ? this.state.x : t.start;
      if (Number(input.value) !== x) input.value = x;
      out.textContent = valued(x, t.unit);
    });
    if (this.note) this.note.textContent = this.track.note ? `${this.track.note}.` : "";
    if (this.scrub) {
      this.scrub.value = this.state.x;
      this.time.textContent = `${this.state.x.toFixed(3)} s`;
    }
    this.timed.forEach((plot) => plot.mark(this.state.x, -1));
    this.showReadout(hz, computed);
    this.showPlot(hz);
    this.frame(true);
  }
  showReadout(hz, computed) {
    const shape = this.scene.shapes[this.state.mode],
      value = hz[this.state.mode];
    const words = shape?.frequency_hz
      ? `mode ${shape.number}: ${computed ? "" : "≈ "}${digits(value)} Hz`
      : "";
    const { track, state } = this,
      own = track.kind === "pose" || track.kind === "time" || state.x === track.start;
    const where = own
      ? this.scene.subtitle
      : `${track.name} at ${valued(state.x, track.unit)}, the rest as asked for`;
    this.readout.replaceChildren(
      node("b", {}, words || this.scene.title),
      node("span", {}, where),
      ...(this.larger ? [node("span", { "data-role": "larger" }, this.larger)] : []),
    );
  }
  showPlot(hz) {
    if (!this.plotPlace) return;
    const plot = this.plots[this.state.track] ?? this.telling;
    if (this.plotPlace.firstChild !== plot.element) this.plotPlace.replaceChildren(plot.element);
    const own = this.plots[this.state.track] ? this.state.x : this.tracks[this.plots.indexOf(plot)].start;
    plot.mark(own, this.state.mode, hz[this.state.mode]);
  }

  /** How much larger than it is a motion of known size is drawn, in words. */
  get larger() {
    const { scale, true_scale } = this.scene;
    if (!scale || true_scale) return "";
    const times = Number((scale * this.state.amplitude).toPrecision(3));
    return times === 1 ? "bending drawn as large as it is" : `bending drawn ${times} times larger than it is`;
  }

  // -- the picture ---------------------------------------------------------------------------

  /** Advance by dt seconds when playing; draw when anything changed. */
  tick(dt) {
    if (!this.state.playing) return this.settle();
    if (this.clock) {
      const { at } = this.clock,
        first = at[0],
        last = at[at.length - 1];
      const x = this.state.x + dt * this.state.speed;
      this.seek(x > last ? first : x);
    } else {
      this.state.phase += dt * 2 * Math.PI * 0.8;
      this.frame(true);
    }
  }
  settle() {
    if (!this.settled) this.frame(true);
  }

  look() {
    const style = getComputedStyle(this.element),
      read = (name) => style.getPropertyValue(name).trim();
    const colour = (name) => rgb(read(name));
    return {
      grid: read("--grid"),
      axis: read("--axis"),
      ghost: read("--ghost"),
      shadow: read("--shadow"),
      ink: read("--ink"),
      plain: colour("--link"),
      names: this.state.names,
      step: this.step,
      level: this.level,
      solid: {
        mass: colour("--mass"),
        joint: colour("--joint"),
        plate: colour("--plate"),
        base: colour("--base"),
        link: colour("--joint"),
      },
      under: (figure) => {
        if (this.scene.cloud) this.cloud(figure.painter);
        if (this.clock) this.trace(figure, read("--trace"), read("--trace-quiet"));
      },
    };
  }

  /** Ease the camera towards the robot as it stands now, with room for what swings and is written. */
  follow(links, width, height) {
    const all = this.reached(links),
      thick = Math.max(0, ...this.scene.solids.map((solid) => solid.radius)),
      room = (this.clock ? 0.05 : 0.09) * this.scene.extent + 0.8 * thick;
    const edge = (pick) => [0, 1, 2].map((k) => pick(...all.map((p) => p[k])));
    const { right, above } = this.camera.homeAxes();
    let aim = times(add(edge(Math.min), edge(Math.max)), 0.5);
    for (const axis of [right, above]) {
      const seen = all.map((p) => dot(sub(p, aim), axis)); // its middle as it is seen
      aim = add(aim, times(axis, (Math.min(...seen) + Math.max(...seen)) / 2));
    }
    const reach = (axis) => Math.max(...all.map((p) => Math.abs(dot(sub(p, aim), axis)))) + room;
    const size = Math.max(
      reach(right) / (0.5 * width - 20),
      reach(above) / (0.5 * height - 50),
      (0.2 * this.scene.extent) / width,
    );
    const ease = this.target ? 0.12 : 1;
    this.target = this.target ? add(this.target, times(sub(aim, this.target), ease)) : aim;
    this.metres = this.metres ? mix(this.metres, size, ease) : size;
    const base = this.scene.planar ? -0.06 * this.scene.extent : this.floor(all);
    this.level = this.level === undefined ? base : mix(this.level, base, ease);
    this.step ??= ticks(0, this.scene.extent, 5)[1];
    this.settled =
      norm(sub(aim, this.target)) < 1e-3 * this.scene.extent && Math.abs(size / this.metres - 1) < 1e-3;
  }
  /** Points to keep in sight: the robot as it stands, or all it passes in time. */
  reached(links) {
    const ends = (some) => some.flatMap((l) => [l.p, l.end]);
    const around = [...(this.scene.cloud?.places ?? []), ...boxCorners(this.scene.around)];
    if (!this.clock) return [[0, 0, 0], ...ends(links), ...around];
    const every = Math.ceil(this.clock.V / 60);
    this.passed ??= Array.from(this.clock.at)
      .filter((_, k) => k % every === 0)
      .flatMap((t) => ends(this.clock.pose(t)));
    return [[0, 0, 0], ...this.passed, ...around];
  }
  floor(points) {
    return Math.min(...points.map((p) => dot(p, unit(this.scene.up)))) - 0.03 * this.scene.extent;
  }

  frame() {
    if (!this.painter || !this.canvas.clientWidth) return;
    const { x, mode, amplitude, phase } = this.state,
      links = this.track.pose(x);
    const [width, height] = this.painter.fit();
    this.follow(links, width, height);
    this.camera.aim(this.target, this.metres, width, height);
    this.painter.begin(this.camera);
    const shape = this.track.shape(x, this.scene.shapes.length ? mode : 0);
    const { factor, largest } = exaggeration(shape, this.scene.extent);
    const swing = this.swing(factor * amplitude * Math.cos(phase));
    const look = this.look();
    this.figure.draw(links, shape, swing, this.tint(shape, largest, look), look);
  }

  /** The factor of what is drawn: as it is, as often larger, or as shapes without a size swing. */
  swing(shown) {
    const { scale, true_scale } = this.scene;
    if (true_scale) return 1;
    if (!scale) return shown;
    return scale * this.state.amplitude * (this.clock ? 1 : (1 + Math.cos(this.state.phase)) / 2);
  }

  /** The colour of a station: plain, or by the picked field. */
  tint(shape, largest, look) {
    if (this.state.colouring === "plain") return () => look.plain;
    const strain =
      this.state.colouring === "energy" ? this.track.strain(this.state.x, this.state.mode) : null;
    const top = this.track.largest[0] ?? largest;
    const value = (i, k) => (strain ? strain[i][k] : top ? norm(shape[i][k][0]) / top : 0);
    return (i, s) => {
      const x = s * (shape[i].length - 1),
        k = Math.min(Math.floor(x), shape[i].length - 2);
      return mapped(mix(value(i, k), value(i, k + 1), x - k));
    };
  }

  /** The path of the tip: whole in time, behind the present stronger; and the one wanted. */
  trace(figure, strong, quiet) {
    this.ends ??= Array.from(this.clock.at, (t) => this.endAt(t));
    const scale = this.swing(1),
      path = this.ends.map(([rest, moved]) => add(rest, times(moved, scale)));
    const now = locate(this.clock.at, this.state.x).i + 1;
    if (this.scene.true_scale) figure.painter.line(path, quiet, 1.2);
    else {
      figure.painter.line(
        this.ends.map(([rest]) => rest),
        figure.ghost,
        1.2,
      );
      figure.painter.line(path, quiet, 1.2);
    }
    figure.painter.line([...path.slice(0, now), figure.tip], strong, 2);
  }
  /** Where the tip would be without its own bending, and what that adds. */
  endAt(t) {
    const link = this.clock.pose(t)[this.scene.tip],
      stations = this.clock.shape(t, 0)[this.scene.tip];
    return [
      add(link.p, turn(link.R, [link.L, 0, 0])),
      turn(link.R, stations[stations.length - 1][0]),
    ];
  }

  /** Places with a value, as dots under the robot. */
  cloud(painter) {
    const { places, values } = this.scene.cloud;
    this.span ??= [Math.min(...values), Math.max(...values)];
    const [low, high] = this.span,
      g = painter.context;
    places.forEach((place, k) => {
      const [x, y, depth] = painter.camera.see(place),
        r = Math.max(0.007 * this.scene.extent * painter.camera.size(depth), 1.5);
      g.fillStyle = css(mapped(share(values[k], low, high)), 1, 0.85);
      g.beginPath();
      g.arc(x, y, r, 0, 2 * Math.PI);
      g.fill();
    });
  }
}
