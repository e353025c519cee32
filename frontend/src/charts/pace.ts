/** Builds a chart in steps; Chart.js would measure, lay out and paint in one task. */

import type { Plugin } from "chart.js";

import type { AnyChart } from "./built";

/** Phase of an update; `held` and `ready` are before and after the steps. */
type Piece = "held" | "axes" | "marks" | "ready";

/** Delays each step of a chart until it is requested. */
export class Pace {
  private piece: Piece = "held";
  private painted = false;

  /** Plug-in for the chart: returning false skips a step. */
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

  /** Let the chart paint itself after each change. */
  paint(chart: AnyChart): void {
    this.painted = true;
    chart.render();
  }
}
