// What each colour means, in both themes: Trace Compass's colours of states, causes of a critical path, marks.
// Talks to: theme (which one is on). Used by: the time graph, the minimap, charts of the panels.
import { isClear, isDark } from "./theme";

export type Rgb = readonly [number, number, number];
/** How much of its colour is left of what is pale. */
const PALENESS = 0.18;
/** How a state looks: its colour, and its height as a share of the row's. */
export interface Look { readonly name: string; readonly light: Rgb; readonly dark: Rgb; readonly height: number; readonly ink: "black" | "white" }

/** By the number of the style in the server's answers. */
export const LOOKS: readonly Look[] = [
  { name: "unknown", light: [176, 176, 176], dark: [84, 84, 90], height: 0.33, ink: "black" },
  { name: "usermode", light: [0, 200, 0], dark: [0, 150, 0], height: 1, ink: "black" },
  { name: "system call", light: [0, 0, 200], dark: [60, 60, 205], height: 1, ink: "white" },
  { name: "interrupted", light: [200, 0, 100], dark: [165, 0, 83], height: 0.75, ink: "white" },
  { name: "waits for a CPU", light: [200, 100, 0], dark: [165, 83, 0], height: 0.5, ink: "black" },
  { name: "blocked", light: [200, 200, 0], dark: [145, 145, 0], height: 0.25, ink: "black" },
  { name: "waits for fork", light: [200, 200, 200], dark: [130, 130, 130], height: 0.5, ink: "black" },
  { name: "dead", light: [255, 255, 255], dark: [0, 0, 0], height: 0, ink: "black" },
  { name: "running", light: [0, 170, 120], dark: [0, 125, 90], height: 1, ink: "black" },
  { name: "idle", light: [200, 200, 200], dark: [70, 70, 74], height: 0.5, ink: "black" },
  { name: "interrupt", light: [200, 0, 100], dark: [165, 0, 83], height: 1, ink: "white" },
  { name: "softirq", light: [200, 150, 100], dark: [160, 120, 80], height: 1, ink: "black" },
  { name: "disk read", light: [0, 140, 160], dark: [0, 115, 130], height: 1, ink: "white" },
  { name: "disk write", light: [150, 60, 170], dark: [125, 50, 142], height: 1, ink: "white" },
  { name: "phase", light: [150, 170, 190], dark: [90, 105, 120], height: 1, ink: "black" },
];
export const STYLE_UNKNOWN = 0, STYLE_DEAD = 7, STYLE_PHASE = 14;

/** Phases have their own colours, by label, after the fixed styles: each at least 15 (CIEDE2000) from all states, and from each other. */
export const FIRST_PHASE = 16, PHASES = 16;
/** Then the causes of a critical path; and all of them again, pale: what a filter does not mean. */
const FIRST_CAUSE = FIRST_PHASE + PHASES, PALE = 64;
export const PAINT_STYLES = 2 * PALE;
/** The server's mark of a state that a filter does not mean. */
const DIMMED = 0x80;
const PHASE_COLOURS: readonly (readonly [light: Rgb, dark: Rgb])[] = [
  [[60, 124, 221], [71, 245, 245]], [[249, 134, 249], [245, 71, 245]], [[37, 244, 244], [158, 245, 71]], [[249, 134, 145], [37, 182, 244]], [[140, 100, 180], [245, 71, 71]], [[57, 149, 172], [90, 131, 226]],
  [[168, 168, 250], [244, 223, 37]], [[168, 250, 201], [124, 192, 158]], [[218, 11, 32], [192, 124, 158]], [[85, 198, 246], [245, 176, 71]], [[232, 186, 218], [8, 118, 145]], [[223, 37, 244], [145, 8, 8]],
  [[180, 108, 100], [148, 100, 180]], [[246, 85, 166], [98, 103, 50]], [[75, 91, 155], [29, 165, 165]], [[139, 155, 75], [87, 50, 103]],
];
const phaseLooks: Look[] = PHASE_COLOURS.map(([light, dark]) => ({ name: "phase", light, dark, height: 1, ink: "black" }));
/** Colours of states that are at least 15 from each other for all kinds of colour vision, by style: of those that can touch. */
const CLEAR: Readonly<Record<number, readonly [light: Rgb, dark: Rgb]>> = {
  0: [[132, 132, 132], [45, 45, 45]], 1: [[14, 194, 125], [0, 137, 91]], 2: [[0, 70, 180], [121, 107, 255]], 3: [[172, 0, 75], [176, 47, 147]], 4: [[225, 105, 0], [220, 48, 0]], 5: [[245, 225, 70], [215, 200, 70]],
  6: [[203, 203, 203], [169, 169, 169]], 8: [[165, 174, 255], [162, 183, 241]], 9: [[235, 235, 235], [111, 111, 111]], 10: [[150, 0, 90], [185, 72, 183]], 11: [[249, 216, 167], [248, 240, 246]], 12: [[0, 158, 180], [36, 145, 190]],
  13: [[150, 0, 90], [209, 95, 123]],
};
/** The same of phases: from each other, and from what threads and CPUs do. So far apart, there are no more; some phases share one. */
const CLEAR_PHASES: typeof PHASE_COLOURS = [
  [[34, 136, 153], [255, 255, 187]], [[153, 102, 102], [102, 255, 238]], [[187, 255, 187], [136, 119, 136]],
  [[136, 102, 255], [51, 0, 238]], [[187, 34, 0], [170, 170, 170]], [[187, 187, 187], [51, 85, 68]],
  [[85, 68, 85], [102, 0, 0]], [[0, 0, 119], [51, 0, 85]], [[51, 0, 0], [119, 68, 119]],
];
function phaseStyle(label: string): number {
  let hash = 0;
  for (let at = 0; at < label.length; at += 1) hash = (hash * 31 + label.charCodeAt(at)) >>> 0;
  return FIRST_PHASE + (hash % PHASES);
}
export function look(style: number): Look {
  const full = style % PALE;
  return (full >= FIRST_CAUSE ? causeLooks[full - FIRST_CAUSE] : full >= FIRST_PHASE ? phaseLooks[full - FIRST_PHASE] : LOOKS[full]) ?? LOOKS[0]!;
}
export function rgbOf(style: number): Rgb {
  const it = look(style), full = style % PALE, phase = full - FIRST_PHASE;
  const cause = full >= FIRST_CAUSE ? causeRgb(causeNames[full - FIRST_CAUSE] ?? "other") : undefined;
  const clear = !isClear() ? undefined : phase >= 0 ? CLEAR_PHASES[phase % CLEAR_PHASES.length] : CLEAR[full];
  const [light, dark] = (cause !== undefined ? [cause, cause] : clear) ?? [it.light, it.dark], rgb = isDark() ? dark : light;
  return style < PALE ? rgb : pale(rgb);
}
/** The colour of text on a bar: of phases, which have many, what is read best there. */
export function inkOn(style: number): "black" | "white" {
  const full = style % PALE, isPhase = full >= FIRST_PHASE && full < FIRST_CAUSE;
  if (!isPhase) return look(style).ink;
  const [r, g, b] = rgbOf(full).map((value) => (value / 255) ** 2.2) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "black" : "white";
}
function pale(rgb: Rgb): Rgb {
  const { background } = ink(), mix = (place: 0 | 1 | 2) => Math.round(background[place] + (rgb[place] - background[place]) * PALENESS);
  return [mix(0), mix(1), mix(2)];
}
/** The style in which a state is painted: phases have one by label, and what a filter does not mean a pale one. */
export function paintStyle(style: number, label: string): number {
  const full = style & ~DIMMED, paint = full === STYLE_PHASE ? phaseStyle(label) : full;
  return (style & DIMMED) === 0 ? paint : paint + PALE;
}
export function isPale(style: number): boolean { return style >= PALE; }
/** The colour of a style of states, for CSS. */
export function stateColour(style: number): string { return css(rgbOf(style)); }
export function css(rgb: Rgb, alpha = 1): string {
  return alpha === 1 ? `rgb(${rgb[0]},${rgb[1]},${rgb[2]})` : `rgba(${rgb[0]},${rgb[1]},${rgb[2]},${alpha})`;
}

const CAUSES: Readonly<Record<string, Rgb>> = {
  cpu: [0, 170, 0], "wait-cpu": [215, 110, 0], irq: [200, 0, 100], softirq: [200, 150, 100], network: [20, 130, 220], disk: [150, 60, 170], sleep: [160, 160, 60],
  lock: [220, 50, 40], pipe: [0, 150, 150], socket: [0, 110, 160], child: [110, 110, 220], signal: [190, 90, 160], other: [130, 130, 130], unknown: [130, 130, 130],
};
/** The same, at least 15 from each other for all kinds of colour vision: on a path, each cause can touch each other one. */
const CLEAR_CAUSES: typeof CAUSES = {
  cpu: [14, 160, 105], "wait-cpu": [220, 100, 0], irq: [94, 0, 87], softirq: [104, 94, 126], network: [132, 140, 255], disk: [253, 178, 190], sleep: [202, 208, 108],
  lock: [110, 2, 18], pipe: [39, 109, 89], socket: [128, 204, 244], child: [102, 80, 227], signal: [184, 24, 2], other: [146, 143, 167], unknown: [146, 143, 167],
};
function causeRgb(cause: string): Rgb { const all = isClear() ? CLEAR_CAUSES : CAUSES; return all[cause] ?? all.other!; }
/** The colour of a cause of a critical path, for CSS: the same in both themes. */
export function causeColour(cause: string): string { return css(causeRgb(cause)); }
export const causeNames: readonly string[] = Object.keys(CAUSES);
const causeLooks: Look[] = causeNames.map((name) => ({ name, light: CAUSES[name]!, dark: CAUSES[name]!, height: name === "cpu" ? 1 : name === "unknown" ? 0.33 : 0.75, ink: "white" }));
/** The style in which a cause is painted. */
export function causeStyle(cause: string): number { return FIRST_CAUSE + Math.max(0, causeNames.indexOf(CAUSES[cause] === undefined ? "other" : cause)); }

/** Colours of the canvas that are no states. */
export interface Ink {
  background: Rgb; band: Rgb; text: string; faint: string; line: string; message: string; mpi: string; inverted: string; sure: string; likely: string; wakeup: string;
  selection: string; edge: string; chosen: Rgb; loss: string; bytes: string; lens: string; mark: string; halo: string;
}
const LIGHT: Ink = {
  background: [255, 255, 255], band: [245, 246, 248], text: "#1c2026", faint: "#6a717c", line: "#e3e6ea", message: "rgba(60,66,80,0.75)", mpi: "rgba(0,120,140,0.9)", inverted: "#e0001b",
  sure: "rgba(40,110,230,0.22)", likely: "rgba(25,80,190,0.75)", wakeup: "rgba(150,60,200,0.9)", selection: "rgba(60,120,220,0.13)", edge: "#2f6fd6",
  chosen: [226, 236, 252], loss: "rgba(214,40,40,0.65)", bytes: "#7d94b5", lens: "rgba(47,111,214,0.14)", mark: "#b06000", halo: "rgba(255,255,255,0.85)",
};
const DARK: Ink = {
  background: [22, 24, 29], band: [28, 31, 37], text: "#e4e7ec", faint: "#949ca8", line: "#30343c", message: "rgba(205,210,220,0.7)", mpi: "rgba(80,205,225,0.9)", inverted: "#ff5060",
  sure: "rgba(110,165,255,0.25)", likely: "rgba(130,180,255,0.8)", wakeup: "rgba(200,130,255,0.9)", selection: "rgba(110,165,255,0.16)", edge: "#6ea5ff",
  chosen: [36, 46, 66], loss: "rgba(255,90,90,0.6)", bytes: "#5d7496", lens: "rgba(110,165,255,0.18)", mark: "#e0a040", halo: "rgba(22,24,29,0.85)",
};
export function ink(): Ink { return isDark() ? DARK : LIGHT; }
