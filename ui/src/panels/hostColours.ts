// A colour for each host, the same in all charts; readable in both themes. Talks to: theme. Used by: usage.
import { isDark } from "../theme";

const HUES = [212, 28, 140, 330, 262, 178, 52, 0];

export function hostColour(host: number): string {
  const round = Math.floor(host / HUES.length), hue = (HUES[host % HUES.length]! + 17 * round) % 360;
  return `hsl(${hue} ${isDark() ? 65 : 70}% ${isDark() ? 62 : 42}%)`;
}
