// Buttons that play a run row by row, and buttons that change the size of the timeline.

import { button, el } from "./dom";

const pace = 900; // milliseconds per row
const sizes = [0.7, 0.85, 1, 1.2, 1.5];

export class Player {
  readonly element: HTMLElement;
  private readonly start: HTMLButtonElement;
  private timer = 0;
  private size = sizes.indexOf(1);

  constructor(
    private readonly step: () => boolean, // selects the next row; false if there is none
    private readonly resize: (size: number) => void,
  ) {
    this.start = button("▶ Play", () => this.toggle(), { id: "play" });
    this.element = el(
      "span",
      { class: "player" },
      this.start, " ",
      button("−", () => this.zoom(-1), { "aria-label": "smaller", id: "smaller" }), " ",
      button("+", () => this.zoom(1), { "aria-label": "larger", id: "larger" }),
    );
  }

  toggle() {
    if (this.timer !== 0) return this.stop();
    this.start.textContent = "❚❚ Pause";
    this.timer = window.setInterval(() => this.step() || this.stop(), pace);
    this.step();
  }

  stop() {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.start.textContent = "▶ Play";
  }

  zoom(by: number) {
    this.size = Math.max(0, Math.min(sizes.length - 1, this.size + by));
    this.resize(sizes[this.size]);
  }
}
