// A painter of solids on a 2-D canvas: own projection, faces sorted from far to near.

class Camera {
  constructor(up, planar) {
    this.up = unit(up);
    const aside = Math.abs(this.up[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    this.e1 = unit(sub(aside, times(this.up, dot(aside, this.up))));
    this.e2 = cross(this.up, this.e1);
    this.home = planar ? { yaw: -0.28 + this.facing(), pitch: 0.3 } : { yaw: -0.9, pitch: 0.35 };
    this.reset();
  }
  /** Yaw at which a planar arm is seen from +z. */
  facing() {
    return Math.atan2(dot([0, 0, 1], this.e2), dot([0, 0, 1], this.e1));
  }
  reset() {
    Object.assign(this, this.home, { zoom: 1, pan: [0, 0] });
  }

  axes(yaw, pitch) {
    const c = Math.cos(pitch);
    const back = add(
      add(times(this.e1, c * Math.cos(yaw)), times(this.e2, c * Math.sin(yaw))),
      times(this.up, Math.sin(pitch)),
    );
    const right = unit(cross(this.up, back));
    return { back, right, above: cross(back, right) };
  }
  homeAxes() {
    return this.axes(this.home.yaw, this.home.pitch);
  }

  /** Look at `target` with so many metres a pixel there. */
  aim(target, metres, width, height) {
    Object.assign(this, this.axes(this.yaw, this.pitch), { target });
    this.distance = 2.4 * metres * Math.max(width, height);
    this.scale = (this.distance / metres) * this.zoom;
    this.middle = [width / 2 + this.pan[0], height / 2 + this.pan[1] + 8];
  }
  /** Screen x, y and distance from the eye of a point. */
  see(point) {
    const d = sub(point, this.target),
      depth = this.distance - dot(d, this.back);
    const s = this.scale / Math.max(depth, 0.05 * this.distance);
    return [this.middle[0] + s * dot(d, this.right), this.middle[1] - s * dot(d, this.above), depth];
  }
  /** Pixels per metre at a distance. */
  size(depth) {
    return this.scale / Math.max(depth, 0.05 * this.distance);
  }
}

const LIGHT = unit([-0.35, 0.75, 0.6]); // screen right, up, towards the eye

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.faces = [];
  }
  /** Fit the canvas to its box; returns its size in CSS pixels. */
  fit() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = this.canvas.clientWidth,
      height = this.canvas.clientHeight;
    const w = Math.round(width * ratio),
      h = Math.round(height * ratio);
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    return [width, height];
  }
  begin(camera) {
    this.camera = camera;
    this.faces.length = 0;
  }

  shade(normal) {
    const c = this.camera;
    const light = dot([dot(normal, c.right), dot(normal, c.above), dot(normal, c.back)], LIGHT);
    return 0.74 + 0.34 * Math.max(light, 0) + 0.14 * Math.min(light, 0);
  }
  /** A flat polygon of points. */
  face(points, normal, colour, alpha = 1) {
    const seen = points.map((p) => this.camera.see(p));
    const depth = seen.reduce((sum, s) => sum + s[2], 0) / seen.length;
    this.faces.push({ depth, seen, fill: css(colour, this.shade(normal), alpha) });
  }
  /** A tube through rings of corners, with caps, colours one a ring; its first `near` stretches are
   * lifted towards the eye by `lift`. */
  tube(rings, colours, near = 0, lift = 0) {
    const first = this.faces.length;
    const K = rings[0].length;
    for (let s = 0; s + 1 < rings.length; s++) {
      const a = rings[s],
        b = rings[s + 1],
        cuts = s === 0 || s + 2 === rings.length ? 4 : 1; // in a hub: short faces sort well
      const between = (k, c) => add(times(a[k], 1 - c / cuts), times(b[k], c / cuts));
      for (let k = 0; k < K; k++) {
        const l = (k + 1) % K;
        const normal = unit(cross(sub(a[l], a[k]), sub(b[k], a[k])));
        for (let c = 0; c < cuts; c++) {
          const corners = [between(k, c), between(l, c), between(l, c + 1), between(k, c + 1)];
          this.outward(corners, normal, colours[s]);
        }
      }
      if (s + 1 === near) this.faces.slice(first).forEach((face) => (face.depth -= lift));
    }
    this.cap(rings[0], rings[1], colours[0]);
    this.cap(rings[rings.length - 1], rings[rings.length - 2], colours[colours.length - 1]);
  }
  /** A face of a closed solid: drawn only when it looks at the eye. */
  outward(points, normal, colour, alpha = 1) {
    const c = this.camera;
    const eye = add(c.target, times(c.back, c.distance));
    if (dot(normal, sub(eye, points[0])) <= 0) return;
    this.face(points, normal, colour, alpha);
  }
  /** Triangles of a mesh, seen from both sides: files do not agree on which is the outer one. */
  triangles(points, faces, colour) {
    const c = this.camera,
      seen = points.map((p) => c.see(p)),
      eye = add(c.target, times(c.back, c.distance));
    for (const [i, j, k] of faces) {
      const a = points[i];
      let normal = unit(cross(sub(points[j], a), sub(points[k], a)));
      if (dot(normal, sub(eye, a)) < 0) normal = times(normal, -1);
      const corners = [seen[i], seen[j], seen[k]];
      const depth = (corners[0][2] + corners[1][2] + corners[2][2]) / 3;
      this.faces.push({ depth, seen: corners, fill: css(colour, this.shade(normal)) });
    }
  }
  cap(ring, inner, colour) {
    const middle = (some) => times(some.reduce(add), 1 / some.length);
    this.outward(ring, unit(sub(middle(ring), middle(inner))), colour);
  }
  cylinder(centre, axis, radius, height, colour) {
    const a = unit(axis),
      aside = Math.abs(a[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    const u = unit(cross(a, aside)),
      v = cross(a, u),
      sides = 28;
    const ring = (h) =>
      Array.from({ length: sides }, (_, k) => {
        const t = (2 * Math.PI * k) / sides;
        return add(
          add(centre, times(a, h)),
          add(times(u, radius * Math.cos(t)), times(v, radius * Math.sin(t))),
        );
      });
    const low = ring(-height / 2),
      high = ring(height / 2);
    const pieces = Math.min(Math.max(Math.round(height / radius), 1), 8); // short faces sort well
    const rings = Array.from({ length: pieces + 1 }, (_, p) => ring(height * (p / pieces - 0.5)));
    for (let k = 0; k < sides; k++) {
      const l = (k + 1) % sides;
      const out = unit(sub(times(add(low[k], low[l]), 0.5), add(centre, times(a, -height / 2))));
      for (let p = 0; p < pieces; p++) {
        const [b, c] = [rings[p], rings[p + 1]];
        this.outward([b[k], b[l], c[l], c[k]], out, colour);
      }
    }
    this.outward(low, times(a, -1), colour);
    this.outward(high, a, colour);
  }
  ball(centre, radius, colour) {
    const [x, y, depth] = this.camera.see(centre);
    this.faces.push({ depth: depth - radius, ball: [x, y, radius * this.camera.size(depth)], colour });
  }
  /** A line through points in space, drawn at once (under the solids). */
  line(points, colour, width, dash = []) {
    const g = this.context;
    g.beginPath();
    points.forEach((p, i) => {
      const [x, y] = this.camera.see(p);
      if (i) g.lineTo(x, y);
      else g.moveTo(x, y);
    });
    Object.assign(g, { strokeStyle: colour, lineWidth: width, lineJoin: "round", lineCap: "round" });
    g.setLineDash(dash);
    g.stroke();
    g.setLineDash([]);
  }
  text(point, words, colour, dy = 0) {
    const [x, y] = this.camera.see(point),
      g = this.context;
    Object.assign(g, { font: "12px system-ui, sans-serif", textAlign: "center", fillStyle: colour });
    g.fillText(words, x, y + dy);
  }
  paint() {
    this.faces.sort((a, b) => b.depth - a.depth);
    for (const face of this.faces)
      if (face.ball) this.paintBall(face);
      else this.paintFace(face);
  }
  paintFace({ seen, fill }) {
    const g = this.context;
    g.beginPath();
    seen.forEach(([x, y], i) => (i ? g.lineTo(x, y) : g.moveTo(x, y)));
    g.closePath();
    Object.assign(g, { fillStyle: fill, strokeStyle: fill, lineWidth: 1.2, lineJoin: "round" });
    g.fill();
    g.stroke(); // closes the hairline between neighbours
  }
  paintBall({ ball: [x, y, r], colour }) {
    const g = this.context;
    const light = g.createRadialGradient(x - 0.3 * r, y - 0.45 * r, 0.1 * r, x, y, r);
    light.addColorStop(0, css(colour, 1.35));
    light.addColorStop(0.6, css(colour, 0.95));
    light.addColorStop(1, css(colour, 0.62));
    g.beginPath();
    g.arc(x, y, r, 0, 2 * Math.PI);
    g.fillStyle = light;
    g.fill();
  }
}
