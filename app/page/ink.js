// A steady hand that is not quite steady: SVG elements and lines that look drawn.

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat());
  return element;
}

/** Random numbers in -1..1 that are the same every time, so that a board does not flicker when it is drawn again. */
export function hand(seed) {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2147483648 - 1;
  };
}

const round = (number) => Math.round(number * 100) / 100;

/** A line from a to b, drawn with a hand that trembles by `wobble`. */
export function line([x1, y1], [x2, y2], random, wobble = 0.8) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const steps = Math.max(2, Math.round(length / 45));
  let path = `M${round(x1)} ${round(y1)}`;
  for (let step = 1; step <= steps; step++) {
    const [here, half] = [step / steps, (step - 0.5) / steps];
    const bend = random() * wobble * 1.6;
    const [nx, ny] = [-(y2 - y1) / length, (x2 - x1) / length];
    const end = step === steps ? 0 : random() * wobble;
    path +=
      `Q${round(x1 + (x2 - x1) * half + nx * bend)} ${round(y1 + (y2 - y1) * half + ny * bend)} ` +
      `${round(x1 + (x2 - x1) * here + nx * end)} ${round(y1 + (y2 - y1) * here + ny * end)}`;
  }
  return path;
}

/** A circle whose radius wavers by `wobble`. */
export function ring(cx, cy, radius, random, wobble = 0.8) {
  const points = 12;
  const radii = Array.from({ length: points }, () => radius + random() * wobble);
  const at = (index, turn = 0) => {
    const angle = ((index + turn) / points) * 2 * Math.PI;
    const r = radii[((index % points) + points) % points];
    return [cx + Math.cos(angle) * r, cy + Math.sin(angle) * r];
  };
  // Catmull-Rom through the points, as cubic curves.
  let path = "";
  for (let index = 0; index < points; index++) {
    const [a, b, c, d] = [at(index - 1), at(index), at(index + 1), at(index + 2)];
    if (index === 0) path = `M${round(b[0])} ${round(b[1])}`;
    path +=
      `C${round(b[0] + (c[0] - a[0]) / 6)} ${round(b[1] + (c[1] - a[1]) / 6)} ` +
      `${round(c[0] - (d[0] - b[0]) / 6)} ${round(c[1] - (d[1] - b[1]) / 6)} ${round(c[0])} ${round(c[1])}`;
  }
  return `${path}Z`;
}
