// The panels of the drawer, in the order of their tabs.
import type { PanelMaker } from "../view";

export const panels: PanelMaker[] = [];
