/** Making a chart one piece at a time: Chart.js would measure, lay out and paint in one task. */

import type { Plugin } from "chart.js";

import type { AnyChart } from "./built";

/** Holds a chart back from the next piece until it is asked for. */
export class Pace {
  private laidOut = false;
  private painted = false;

  /** To be given to the chart: what a plug-in answers with false is left out. */
  readonly plugin: Plugin<"bar"> = {
    id: "pace",
    beforeUpdate: () => (this.laidOut ? undefined : false),
    beforeRender: () => (this.painted ? undefined : false),
  };

  layOut(chart: AnyChart): void {
    this.laidOut = true;
    chart.update("none");
  }

  /** From now on the chart paints itself whenever it has changed. */
  paint(chart: AnyChart): void {
    this.painted = true;
    chart.render();
  }
}
