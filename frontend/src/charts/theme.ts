/** Colours and type of the charts: one record, read from the style sheet's custom properties. */

export interface Theme {
  text: string;
  muted: string;
  grid: string;
  surface: string;
  accent: string;
  /** Colour of a difference within the noise. */
  vague: string;
  fontFamily: string;
  /** Colour of a cipher's slot. */
  cipher: (slot: string) => string;
}

/** The current theme of an element (light or dark, screen or print). */
export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const property = (name: string): string => style.getPropertyValue(name).trim();
  return {
    text: property("--text"),
    muted: property("--muted"),
    grid: property("--line"),
    surface: property("--surface"),
    accent: property("--accent"),
    vague: property("--line-strong"),
    fontFamily: style.fontFamily,
    cipher: (slot) => property(`--cipher-${slot}`) || property("--cipher-other-2"),
  };
}
