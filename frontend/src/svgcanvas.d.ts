/** svgcanvas 2.6 brings no types: the part of it that we use. */
declare module "svgcanvas" {
  interface Context extends CanvasRenderingContext2D {}
  class Context {
    constructor(options: { width: number; height: number });
    getSerializedSvg(): string;
    __currentElement: Element;
    __createElement(name: string, attributes: Record<string, string | number>, bare: boolean): Element;
    __closestGroupOrSvg(): Element;
    __applyTransformation(element: Element): void;
    __applyStyleToCurrentElement(action: "fill" | "stroke"): void;
    __applyCurrentDefaultPath(): void;
    __applyText(text: string, x: number, y: number, action: "fill" | "stroke"): void;
  }
}
