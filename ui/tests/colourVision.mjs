// How far colours are from each other (CIEDE2000), for all kinds of colour vision (Machado et al. 2009, full severity). Used by: the unit tests.
const linear = (value) => { const c = value / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const coded = (value) => Math.round(255 * Math.max(0, Math.min(1, value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055)));
const MATRICES = {
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
export const visions = ["usual", ...Object.keys(MATRICES)];
/** A colour as it is seen. */
export function seen(rgb, vision) {
  const light = rgb.map(linear);
  return vision === "usual" ? rgb : MATRICES[vision].map(([r, g, b]) => coded(r * light[0] + g * light[1] + b * light[2]));
}
function lab(rgb) {
  const [r, g, b] = rgb.map(linear), f = (t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116);
  const [x, y, z] = [(0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047, 0.2126729 * r + 0.7151522 * g + 0.072175 * b, (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883].map(f);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
export function distance(one, other) {
  const [L1, a1, b1] = lab(one), [L2, a2, b2] = lab(other), rad = Math.PI / 180, C = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2, G = 0.5 * (1 - Math.sqrt(C ** 7 / (C ** 7 + 25 ** 7)));
  const [p1, p2] = [a1 * (1 + G), a2 * (1 + G)], [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)], hue = (a, b) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) / rad + 360) % 360);
  const [h1, h2] = [hue(p1, b1), hue(p2, b2)], isGrey = c1 * c2 === 0;
  const dh = isGrey ? 0 : h2 - h1 > 180 ? h2 - h1 - 360 : h2 - h1 < -180 ? h2 - h1 + 360 : h2 - h1, dH = 2 * Math.sqrt(c1 * c2) * Math.sin((dh / 2) * rad);
  const L = (L1 + L2) / 2, c = (c1 + c2) / 2, H = isGrey ? h1 + h2 : Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : h1 + h2 < 360 ? (h1 + h2 + 360) / 2 : (h1 + h2 - 360) / 2;
  const T = 1 - 0.17 * Math.cos((H - 30) * rad) + 0.24 * Math.cos(2 * H * rad) + 0.32 * Math.cos((3 * H + 6) * rad) - 0.2 * Math.cos((4 * H - 63) * rad);
  const SL = 1 + (0.015 * (L - 50) ** 2) / Math.sqrt(20 + (L - 50) ** 2), SC = 1 + 0.045 * c, SH = 1 + 0.015 * c * T, RT = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(60 * Math.exp(-(((H - 275) / 25) ** 2)) * rad);
  return Math.sqrt(((L2 - L1) / SL) ** 2 + ((c2 - c1) / SC) ** 2 + (dH / SH) ** 2 + RT * ((c2 - c1) / SC) * (dH / SH));
}
