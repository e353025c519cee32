/** Making a chart one piece at a time: Chart.js would measure, lay out and paint in one task. */

import type { Plugin } from "chart.js";

import type { AnyChart } from "./built";

/** What a chart does when it is updated; `held` and `ready` are before and after the pieces. */
type Piece = "held" | "axes" | "marks" | "ready";

/** Holds a chart back from the next piece until it is asked for. */
export class Pace {
  private piece: Piece = "held";
  private painted = false;

  /** To be given to the chart: what a plug-in answers with false is left out. */
  readonly plugin: Plugin<"bar"> = {
    id: "pace",
    beforeUpdate: () => (this.piece === "held" ? false : undefined),
    beforeLayout: () => (this.piece === "marks" ? false : undefined),
    beforeDatasetsUpdate: () => (this.piece === "axes" ? false : undefined),
    beforeRender: () => (this.painted ? undefined : false),
  };

  /** The axes, and so the area of the marks. */
  layOutAxes(chart: AnyChart): void {
    this.piece = "axes";
    chart.update("none");
  }

  /** The marks, between the axes as they are. */
  layOutMarks(chart: AnyChart): void {
    this.piece = "marks";
    chart.update("none");
    this.piece = "ready";
  }

  /** From now on the chart paints itself whenever it has changed. */
  paint(chart: AnyChart): void {
    this.painted = true;
    chart.render();
  }
}
