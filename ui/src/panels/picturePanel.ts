// What panels with pictures over time have in common: the window, the cursor and the selection of all pictures, and a file with what is seen.
// Talks to: view. Used by: resources, lives, disks.
import { button } from "../dom";
import { saveSvg } from "../graph/export";
import type { Navigator, View, ViewState } from "../view";
import { AskingPanel } from "./panel";
import { svgOfPictures, type TimePicture } from "./timePicture";

export abstract class PicturePanel extends AskingPanel {
  constructor(id: string, title: string, view: View, navigator: Navigator) {
    super(id, title, view, navigator, ["window", "clock", "hover", "selection"]);
    this.controls.append(button("SVG", "Save the pictures of this panel as an SVG file", () => { const svg = this.svg(); if (svg !== null) saveSvg(svg, view, id); }, { class: "save" }));
  }
  /** All pictures, with their titles. */
  protected abstract pictures(): { picture: TimePicture; title: string }[];
  /** The text of the file. */
  svg(): string | null { return svgOfPictures(this.pictures()); }
  protected override changed(_now: ViewState, changed: ReadonlySet<keyof ViewState>): void {
    // Zooming and panning take the pictures along.
    if (changed.has("clock") || (changed.has("window") && !this.isLed)) this.letGo();
    for (const { picture } of this.pictures()) {
      if (changed.has("window") || changed.has("clock") || changed.has("selection")) picture.drawSoon();
      else picture.moveCursor();
    }
    if (changed.has("window") || changed.has("clock")) this.askWhenQuick();
  }
  protected override themed(): void { for (const { picture } of this.pictures()) picture.drawSoon(); }
}
