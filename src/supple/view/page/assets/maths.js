// Vectors, rotations, packed arrays and colours. No drawing, no document.

/** Unpack numbers written by page.py: a list, or bytes with one scale, or one a shape (axis 1). */
function unpack(packed) {
  if (Array.isArray(packed)) return { shape: [packed.length], data: Float64Array.from(packed) };
  const bytes = Uint8Array.from(atob(packed.bytes), (c) => c.charCodeAt(0));
  const kind = { i16: Int16Array, i8: Int8Array, u8: Uint8Array, f32: Float32Array }[packed.type];
  const raw = new kind(bytes.buffer),
    { shape, scale } = packed,
    data = new Float64Array(raw.length);
  const each = shape.slice(2).reduce((a, b) => a * b, 1);
  for (let i = 0; i < raw.length; i++) {
    data[i] = raw[i] * (scale.length > 1 ? scale[Math.floor(i / each) % scale.length] : scale[0]);
  }
  return { shape, data };
}

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => times(a, 1 / (norm(a) || 1));
const mix = (a, b, f) => a + (b - a) * f;

/** Rows of a rotation (nine numbers) times a vector. */
const turn = (R, v) => [
  R[0] * v[0] + R[1] * v[1] + R[2] * v[2],
  R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
  R[6] * v[0] + R[7] * v[1] + R[8] * v[2],
];
const turnBack = (R, v) => [
  R[0] * v[0] + R[3] * v[1] + R[6] * v[2],
  R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
  R[2] * v[0] + R[5] * v[1] + R[8] * v[2],
];

/** Rotation of a quaternion, w first, normalised here. */
function rotation(w, x, y, z) {
  const s = 1 / Math.hypot(w, x, y, z);
  w *= s;
  x *= s;
  y *= s;
  z *= s;
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y - w * z),
    2 * (x * z + w * y),
    2 * (x * y + w * z),
    1 - 2 * (x * x + z * z),
    2 * (y * z - w * x),
    2 * (x * z - w * y),
    2 * (y * z + w * x),
    1 - 2 * (x * x + y * y),
  ];
}

/** Rotate v by the rotation vector r (Rodrigues). */
function rotateBy(r, v) {
  const angle = norm(r);
  if (angle < 1e-9) return v;
  const a = times(r, 1 / angle),
    c = Math.cos(angle),
    s = Math.sin(angle);
  return add(add(times(v, c), times(cross(a, v), s)), times(a, dot(a, v) * (1 - c)));
}

/** The interval of the rising list `grid` that holds x, and how far along it x lies. */
function locate(grid, x) {
  const last = grid.length - 1;
  if (last < 1 || x <= grid[0]) return { i: 0, f: 0 };
  if (x >= grid[last]) return { i: last - 1, f: 1 };
  let low = 0,
    high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (grid[middle] <= x) low = middle;
    else high = middle;
  }
  return { i: low, f: (x - grid[low]) / (grid[high] - grid[low]) };
}

// Viridis without its darkest fifth: rises evenly in lightness, safe for colour-blind readers.
const MAP = [
  "#414487",
  "#355f8d",
  "#2a788e",
  "#21918c",
  "#22a884",
  "#44bf70",
  "#7ad151",
  "#bddf26",
  "#fde725",
].map(rgb);

function rgb(hex) {
  const text = hex.trim();
  return [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16));
}
function mapped(value) {
  const x = Math.min(Math.max(value, 0), 1) * (MAP.length - 1);
  const i = Math.min(Math.floor(x), MAP.length - 2),
    f = x - i;
  return [0, 1, 2].map((k) => mix(MAP[i][k], MAP[i + 1][k], f));
}
/** How far a value lies from low to high, 0 to 1; evenly in its logarithm where they differ much. */
function share(value, low, high) {
  if (!(high > low)) return 0.5;
  return wide(low, high) ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}
const wide = (low, high) => low > 0 && high > 10 * low;
const scaleWords = (low, high) => (wide(low, high) ? ", colours in equal ratios" : "");
const css = (c, shade = 1, alpha = 1) =>
  `rgba(${c.map((v) => Math.round(Math.min(v * shade, 255))).join(",")},${alpha})`;

/** A number with six digits, as the command line prints it. */
function digits(value, count = 6) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 10 ** count)
    ? value.toExponential(count - 1)
    : value.toPrecision(count);
}

/** A value with its unit, as short as it can be told. */
function valued(value, unit) {
  const near = Math.abs(value) < 1e-12 ? 0 : Number(value.toPrecision(4));
  return `${near}${unit === "°" ? "" : " "}${unit}`.trim();
}

/** A length or an energy per length with a unit that reads well. */
function sized(value, unit) {
  const steps =
    unit === "m"
      ? [[1, "m"], [1e-3, "mm"], [1e-6, "µm"], [1e-9, "nm"]]
      : [[1, unit], [1e-3, `m${unit}`], [1e-6, `µ${unit}`]];
  const [size, word] = steps.find(([s]) => value >= s) ?? steps[steps.length - 1];
  return `${Number((value / size).toPrecision(3))} ${word}`;
}

/** About `count` round values that cover low to high; a label in degrees has them at 15, 30, .. */
function ticks(low, high, count, label = "") {
  const raw = (high - low || 1) / count,
    power = 10 ** Math.floor(Math.log10(raw));
  const turns = raw > 10 && /\((°|deg)\)$/.test(label) ? [15, 30, 45, 60, 90, 180, 360] : [];
  const step = [...turns, ...[1, 2, 5, 10].map((k) => k * power)].find((s) => s >= raw * 0.999);
  const found = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) {
    found.push(Math.abs(v) < 1e-9 * step ? 0 : v);
  }
  return found;
}
/** Round values that cover low to high on a logarithmic axis: as many as `most` allows. */
function logTicks(low, high, most = 12) {
  const choice = (steps, every = 1) => {
    const found = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      for (const k of e % every ? [] : steps) {
        const v = Number(`${k}e${e}`);
        if (v >= low * 0.999 && v <= high * 1.001) found.push(v);
      }
    }
    return found;
  };
  const kinds = [[[1, 2, 3, 4, 5, 6, 7, 8, 9]], [[1, 2, 3, 5, 7]], [[1, 2, 5]], [[1, 3]], [[1]], [[1], 2], [[1], 5]];
  const found = kinds.map((kind) => choice(...kind)).find((some) => some.length <= most);
  return found?.length > 2 ? found : ticks(low, high, Math.min(most, 4));
}
