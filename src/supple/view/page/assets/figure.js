// One robot drawn at one pose with one deformation: what the viewer shows in a frame.

const LARGEST = 0.12; // drawn displacement over the extent at amplitude 1
const LARGEST_TURN = 0.7; // rad, drawn rotation at amplitude 1

/** Twice as many stations, by cubics through their neighbours. */
function refined(stations) {
  const last = stations.length - 1,
    out = [];
  const at = (k) => stations[Math.min(Math.max(k, 0), last)];
  const between = (k) =>
    [0, 1].map((part) =>
      [0, 1, 2].map((c) => {
        const [a, b, d, e] = [k - 1, k, k + 1, k + 2].map((j) => at(j)[part][c]);
        const start = k > 0 ? a : 2 * b - d,
          stop = k + 2 <= last ? e : 2 * d - b;
        return (9 * (b + d) - start - stop) / 16;
      }),
    );
  for (let k = 0; k <= last; k++) {
    out.push(stations[k]);
    if (k < last) out.push(between(k));
  }
  return out;
}

/** The factor that makes the largest drawn displacement LARGEST of the extent. */
function exaggeration(shape, extent) {
  let u = 0,
    phi = 0;
  for (const stations of shape) {
    for (const [moved, turned] of stations) {
      u = Math.max(u, norm(moved));
      phi = Math.max(phi, norm(turned));
    }
  }
  const byTurn = phi > 0 ? LARGEST_TURN / phi : Infinity;
  const byMove = u > 0 ? (LARGEST * extent) / u : Infinity;
  const factor = Math.min(byMove, byTurn);
  return { factor: Number.isFinite(factor) ? factor : 0, largest: u };
}

/** Numbers three by three. */
function threes(data) {
  return Array.from({ length: data.length / 3 }, (_, k) => [data[3 * k], data[3 * k + 1], data[3 * k + 2]]);
}

class Figure {
  constructor(scene, painter) {
    this.scene = scene;
    this.painter = painter;
    this.tip = [0, 0, 0];
    this.meshes = (scene.meshes ?? []).map(({ link, colour, vertices, faces }) => ({
      link,
      colour,
      vertices: threes(unpack(vertices).data),
      faces: threes(unpack(faces).data),
    }));
  }

  /** Draw `links` (a pose) bent by `scale` times `shape`, coloured by `tint(link, station)`. */
  draw(links, shape, scale, tint, look) {
    const bent = links.map((link, i) => this.bend(link, refined(shape[i]), scale));
    const last = bent[this.scene.tip];
    this.tip = last[last.length - 1].centre;
    this.ghost = look.ghost;
    this.grid(look);
    this.shadow(bent, look);
    if (!this.scene.true_scale) {
      links.forEach((l) => this.painter.line([l.p, l.end], look.ghost, 1.2, [5, 4]));
    }
    look.under?.(this);
    bent.forEach((stations, i) => this.link(i, stations, links[i], tint, look));
    this.scene.solids.forEach((solid) => this.solid(solid, links, bent, look));
    this.meshes.forEach((mesh) => this.mesh(mesh, bent));
    this.painter.paint();
    if (look.names) this.names(bent, look);
  }

  /** Centres and section rotations along a bent link. */
  bend(link, stations, scale) {
    const last = Math.max(stations.length - 1, 1);
    return stations.map(([u, phi], k) => ({
      centre: add(link.p, turn(link.R, add([(link.L * k) / last, 0, 0], times(u, scale)))),
      turn: (v) => turn(link.R, rotateBy(times(phi, scale), v)),
    }));
  }

  link(i, stations, link, tint, look) {
    const { corners: outline, taper = [] } = this.scene.links[i];
    if (!outline.length || link.L <= 0) return;
    const last = Math.max(stations.length - 1, 1);
    const wide = (k) => {
      if (!taper.length) return [1, 1];
      const at = (k / last) * (taper.length - 1),
        j = Math.min(Math.floor(at), taper.length - 2);
      return [0, 1].map((c) => taper[j][c] + (taper[j + 1][c] - taper[j][c]) * (at - j));
    };
    const rings = stations.map((s, k) => {
      const [a, b] = wide(k);
      return outline.map(([y, z]) => add(s.centre, s.turn([0, a * y, b * z])));
    });
    const colours = stations.map((_, k) =>
      this.scene.links[i].rigid ? look.solid.joint : tint(i, k / (stations.length - 1)),
    );
    const hidden = this.inHub(i, outline),
      inside = (hidden * last) / link.L, // in stretches
      whole = Math.floor(inside),
      part = inside - whole;
    if (!hidden || inside > last / 2) return this.painter.tube(rings, colours);
    const seen = rings.slice(whole);
    seen[0] = seen[0].map((p, k) => add(times(p, 1 - part), times(seen[1][k], part)));
    this.painter.tube(seen, colours.slice(whole), Math.ceil(inside), 0.6 * hidden);
  }

  /** How far from its joint a link stays inside its hub: what is hidden there sorts badly. */
  inHub(i, outline) {
    const own = (s) => s.link === i && !s.end && s.role === "joint" && s.kind === "cylinder";
    const hub = this.scene.solids.find(own);
    if (!hub) return 0;
    const [, y, z] = unit(hub.axis),
      across = Math.hypot(y, z);
    if (across < 0.9) return 0;
    const half = Math.max(...outline.map(([a, b]) => Math.abs(a * z - b * y))) / across;
    return Math.sqrt(Math.max(hub.radius ** 2 - half ** 2, 0));
  }

  solid(solid, links, bent, look) {
    const at = (link, end) => (link < 0 ? null : bent[link].at(end ? -1 : 0));
    const beside = (place, offset) =>
      place ? add(place.centre, place.turn(offset)) : offset;
    const place = at(solid.link, solid.end);
    const centre = beside(place, solid.offset);
    const colour = look.solid[solid.role];
    if (solid.kind === "ball") this.painter.ball(centre, solid.radius, colour);
    else if (solid.kind === "rod") {
      const along = sub(beside(at(solid.far, solid.far_end), solid.far_offset), centre);
      const middle = add(centre, times(along, 0.5));
      this.painter.cylinder(middle, along, solid.radius, norm(along), colour);
    } else {
      const axis = place ? place.turn(solid.axis) : solid.axis;
      this.painter.cylinder(centre, axis, solid.radius, solid.height, colour);
    }
  }

  /** A shape that a link looks like, on its end. */
  mesh({ link, colour, vertices, faces }, bent) {
    const place = link < 0 ? null : bent[link].at(-1);
    const points = place ? vertices.map((v) => add(place.centre, place.turn(v))) : vertices;
    this.painter.triangles(points, faces, colour);
  }

  /** The plane the robot stands on, or lives in when it is planar. */
  plane(look) {
    const { scene } = this,
      up = scene.planar ? [0, 0, 1] : unit(scene.up);
    const e1 = Math.abs(up[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    const across = unit(cross(up, e1));
    return { up, e1: unit(cross(across, up)), e2: across, level: look.level };
  }
  grid(look) {
    const { up, e1, e2, level } = this.plane(look),
      step = look.step,
      count = 9;
    const c = this.painter.camera.target;
    const a0 = Math.round(dot(c, e1) / step),
      b0 = Math.round(dot(c, e2) / step);
    const at = (a, b) => add(add(times(e1, a * step), times(e2, b * step)), times(up, level));
    for (let k = -count; k <= count; k++) {
      const strong = (n) => (n === 0 ? look.axis : look.grid);
      this.painter.line([at(a0 + k, b0 - count), at(a0 + k, b0 + count)], strong(a0 + k), 1);
      this.painter.line([at(a0 - count, b0 + k), at(a0 + count, b0 + k)], strong(b0 + k), 1);
    }
  }
  shadow(bent, look) {
    const { up, level } = this.plane(look);
    const drop = (p) => add(p, times(up, level - dot(p, up)));
    for (const stations of bent) {
      this.painter.line(
        stations.map((s) => drop(s.centre)),
        look.shadow,
        5,
      );
    }
  }
  names(bent, look) {
    bent.forEach((stations, i) => {
      const middle = stations[stations.length >> 1].centre;
      this.painter.text(middle, this.scene.links[i].name, look.ink, -14);
    });
  }
}
