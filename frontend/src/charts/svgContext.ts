/** svgcanvas as Chart.js takes it: a canvas' context that writes an SVG. */

import { Context } from "svgcanvas";

import { clean } from "./fit";

/** A context that draws into an SVG of this size, in CSS pixels. */
export function svgContext(width: number, height: number): InstanceType<typeof Context> {
  return new PolicyContext({ width, height });
}

interface Font {
  style: string;
  weight: string;
  size: string;
  family: string;
}

/** "600 13px system-ui, sans-serif" as its parts; Chart.js and we write no other form. */
export function fontParts(font: string): Font {
  const found = /^(?:(italic|oblique|normal)\s+)?(?:(\w+)\s+)?([\d.]+px)\s+(.+)$/.exec(font);
  const [, style, weight, size, family] = found ?? [];
  return {
    style: style ?? "normal",
    weight: weight ?? "normal",
    size: size ?? "12px",
    family: family ?? "sans-serif",
  };
}

const ANCHORS: Readonly<Record<string, string>> = { center: "middle", right: "end", end: "end" };
const BASELINES: Readonly<Record<string, string>> = {
  middle: "central",
  top: "text-before-edge",
  bottom: "text-after-edge",
  hanging: "hanging",
};

class PolicyContext extends Context {
  /** Of a canvas the path outlives the text written meanwhile; the library forgets it. */
  override __applyCurrentDefaultPath(): void {
    if (this.__currentElement.nodeName !== "path") {
      const path = this.__createElement("path", {}, true);
      this.__closestGroupOrSvg().append(path);
      this.__currentElement = path;
      this.__applyTransformation(path);
    }
    super.__applyCurrentDefaultPath();
  }

  /** The library reads fonts through a style attribute, which the page's own policy forbids. */
  override __applyText(text: string, x: number, y: number, action: "fill" | "stroke"): void {
    const { style, weight, size, family } = fontParts(this.font);
    const element = this.__createElement(
      "text",
      {
        "font-family": family,
        "font-size": size,
        "font-style": style,
        "font-weight": weight,
        x,
        y,
        "text-anchor": ANCHORS[this.textAlign] ?? "start",
        "dominant-baseline": BASELINES[this.textBaseline] ?? "alphabetic",
      },
      true,
    );
    element.append(clean(text));
    const parent = this.__closestGroupOrSvg();
    this.__currentElement = element;
    this.__applyTransformation(element);
    this.__applyStyleToCurrentElement(action);
    parent.append(element);
  }
}
