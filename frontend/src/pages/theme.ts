/** The switch of the theme in the footer; public/assets/theme.js applies the choice on each page. */

const KEY = "theme";
const MEDIA: Readonly<Record<string, string>> = {
  system: "screen and (prefers-color-scheme: dark)",
  light: "not all",
  dark: "screen",
};

/** What charts listen to: the colours of the page have changed. */
export const THEME_CHANGED = "themechange";

export function initTheme(): void {
  const field = document.getElementById("theme");
  const link = document.getElementById("dark-colours");
  if (!field || !(link instanceof HTMLLinkElement)) return;
  const chosen = stored();
  for (const input of field.querySelectorAll("input")) {
    input.checked = input.value === chosen;
    input.addEventListener("change", () => choose(input.value, link));
  }
  field.hidden = false;
}

function choose(theme: string, link: HTMLLinkElement): void {
  link.media = MEDIA[theme] ?? link.media;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // It holds for this page alone.
  }
  const changed = (): boolean => dispatchEvent(new Event(THEME_CHANGED));
  // Until it is first needed, a style sheet may be on its way.
  if (link.sheet) changed();
  else link.addEventListener("load", changed, { once: true });
}

function stored(): string {
  try {
    const theme = localStorage.getItem(KEY) ?? "";
    return theme in MEDIA ? theme : "system";
  } catch {
    return "system";
  }
}
