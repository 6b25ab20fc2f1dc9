// Mouse, touch and keys on the picture of a viewer.

/** Drag turns, shift-drag moves, two fingers or the wheel (once clicked) zoom. */
function steer(v) {
  const touches = new Map(),
    { canvas, camera } = v;
  const spread = () => {
    const [a, b] = [...touches.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  let before = 0;
  const zoom = (factor) => {
    camera.zoom = Math.min(Math.max(camera.zoom * factor, 0.3), 12);
    v.frame(true);
  };
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    touches.set(e.pointerId, { x: e.clientX, y: e.clientY });
    if (touches.size === 2) before = spread();
  });
  canvas.addEventListener("pointermove", (e) => {
    const last = touches.get(e.pointerId);
    if (!last) return;
    const dx = e.clientX - last.x,
      dy = e.clientY - last.y;
    touches.set(e.pointerId, { x: e.clientX, y: e.clientY });
    if (touches.size === 2) {
      zoom(spread() / before);
      before = spread();
      return;
    }
    if (e.shiftKey || e.buttons === 2) camera.pan = [camera.pan[0] + dx, camera.pan[1] + dy];
    else orbit(v, -0.008 * dx, 0.008 * dy);
    v.frame(true);
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, (e) => touches.delete(e.pointerId));
  canvas.addEventListener(
    "wheel",
    (e) => {
      if (!e.ctrlKey && document.activeElement !== canvas) return; // the reader scrolls on
      e.preventDefault();
      zoom(Math.exp(-0.0012 * e.deltaY));
    },
    { passive: false },
  );
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("keydown", (e) => key(v, e, zoom));
}
function orbit(v, yaw, pitch) {
  v.camera.yaw += yaw;
  v.camera.pitch = Math.min(Math.max(v.camera.pitch + pitch, -1.5), 1.5);
  v.frame(true);
}
function key(v, event, zoom) {
  const act = {
    ArrowLeft: () => orbit(v, 0.1, 0),
    ArrowRight: () => orbit(v, -0.1, 0),
    ArrowUp: () => orbit(v, 0, 0.1),
    ArrowDown: () => orbit(v, 0, -0.1),
    "+": () => zoom(1.1),
    "-": () => zoom(1 / 1.1),
    " ": () => v.play(!v.state.playing),
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}
