// A Track: poses and deformations along one parameter, read between the computed ones.

class Track {
  constructor(raw, parents, near) {
    Object.assign(this, { kind: raw.kind, name: raw.name, unit: raw.unit, note: raw.note });
    this.start = raw.start;
    this.at = unpack(raw.at).data;
    this.p = unpack(raw.p);
    this.q = unpack(raw.quaternion);
    this.L = unpack(raw.L);
    this.motion = raw.motion.map((part) => part && unpack(part));
    this.energy = unpack(raw.energy);
    this.values = raw.values;
    this.hertz = raw.frequency_hz;
    this.kinds = raw.kinds;
    this.largest = raw.largest; // m and J/m, empty for shapes without a size
    const [, M, n, P] = this.energy.shape;
    Object.assign(this, { M, n, P, V: this.at.length });
    this.offsets = this.chained(parents, near);
    this.parents = parents;
  }

  /** Offsets of links that sit on the end of another one at every pose; null for the others. */
  chained(parents, near) {
    return parents.map((parent, i) => {
      if (parent < 0 || this.V < 2) return null;
      let first = null;
      for (let v = 0; v < this.V; v++) {
        const R = this.frame(v, v, 0, parent);
        const end = add(
          this.vector(this.p, v, parent),
          times([R[0], R[3], R[6]], this.number(this.L, v, parent)),
        );
        const here = turnBack(R, sub(this.vector(this.p, v, i), end));
        first ??= here;
        if (norm(sub(here, first)) > near) return null;
      }
      return first;
    });
  }

  row(array, v) {
    return Math.min(v, array.shape[0] - 1);
  }
  number(array, v, i) {
    return array.data[this.row(array, v) * this.n + i];
  }
  vector(array, v, i) {
    const k = 3 * (this.row(array, v) * this.n + i);
    return [array.data[k], array.data[k + 1], array.data[k + 2]];
  }
  frame(a, b, f, i) {
    const k = 4 * (this.row(this.q, a) * this.n + i),
      l = 4 * (this.row(this.q, b) * this.n + i);
    const d = this.q.data;
    return rotation(...[0, 1, 2, 3].map((c) => mix(d[k + c], d[l + c], f)));
  }

  /** Root, rotation and length of every link at the parameter x. */
  pose(x) {
    const { i: a, f } = locate(this.at, x),
      b = Math.min(a + 1, this.V - 1);
    const links = [];
    for (let i = 0; i < this.n; i++) {
      const R = this.frame(a, b, f, i),
        L = mix(this.number(this.L, a, i), this.number(this.L, b, i), f);
      const pa = this.vector(this.p, a, i),
        pb = this.vector(this.p, b, i);
      let p = [0, 1, 2].map((k) => mix(pa[k], pb[k], f));
      if (this.offsets[i]) {
        const on = links[this.parents[i]];
        p = add(on.end, turn(on.R, this.offsets[i]));
      }
      links.push({ p, R, L, end: add(p, times([R[0], R[3], R[6]], L)) });
    }
    return links;
  }

  /** Displacement and rotation of shape m at every station: per link a list of [u, phi]. */
  shape(x, m) {
    const { i: a, f } = locate(this.at, x),
      b = Math.min(a + 1, this.V - 1);
    const g = this.alike(a, b, m) ? f : Math.round(f);
    const size = this.n * this.P,
      out = [];
    const value = (part, v, k) => (part ? part.data[(this.row(part, v) * this.M + m) * size + k] : 0);
    for (let i = 0; i < this.n; i++) {
      const stations = [];
      for (let s = 0; s < this.P; s++) {
        const k = i * this.P + s;
        const six = this.motion.map((part) => mix(value(part, a, k), value(part, b, k), g));
        stations.push([six.slice(0, 3), six.slice(3)]);
      }
      out.push(stations);
    }
    return out;
  }

  /** Whether shape m is nearly the same at two computed poses, so that it may be blended. */
  alike(a, b, m) {
    this.seen ??= new Map();
    const key = a * 1000 + m;
    if (this.seen.has(key)) return this.seen.get(key);
    const size = this.n * this.P;
    let ab = 0,
      aa = 0,
      bb = 0;
    for (const part of this.motion.slice(0, 3)) {
      if (!part) continue;
      const ka = (this.row(part, a) * this.M + m) * size,
        kb = (this.row(part, b) * this.M + m) * size;
      for (let k = 0; k < size; k++) {
        const u = part.data[ka + k],
          v = part.data[kb + k];
        ab += u * v;
        aa += u * u;
        bb += v * v;
      }
    }
    const same = ab >= 0.5 * Math.sqrt(aa * bb);
    this.seen.set(key, same);
    return same;
  }

  /** Strain energy per length over its largest, per link and station. */
  strain(x, m) {
    const { i: a, f } = locate(this.at, x),
      v = a + Math.round(f),
      out = [];
    const first = (this.row(this.energy, v) * this.M + m) * this.n * this.P;
    for (let i = 0; i < this.n; i++) {
      const k = first + i * this.P;
      out.push(Array.from(this.energy.data.subarray(k, k + this.P)));
    }
    return out;
  }

  /** What kind shape m is at the computed pose nearest to x. */
  kindAt(x, m) {
    const { i, f } = locate(this.at, x);
    return this.kinds[i + Math.round(f)]?.[m];
  }

  /** Frequencies in Hz at x, and whether they were computed there or lie between. */
  frequencies(x) {
    if (!this.values.length) return { hz: [], computed: true };
    const { i, f } = locate(this.values, x),
      j = Math.min(i + 1, this.values.length - 1);
    const computed = f < 1e-9 || f > 1 - 1e-9;
    const near = this.hertz[f < 0.5 ? i : j];
    const hz = computed ? near : this.hertz[i].map((v, m) => v * (this.hertz[j][m] / v) ** f);
    return { hz, computed };
  }
}
