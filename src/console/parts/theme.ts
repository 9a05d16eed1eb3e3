// The theme of the console: light, dark, or as the system says.

export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

const KEY = "pilvi-theme";

/** The reader's choice in this browser. */
export function chosenTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system";
  } catch {
    // A browser may forbid storage.
    return "system";
  }
}

/** Shows a theme. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Shows a theme, and keeps it for later visits. */
export function chooseTheme(theme: Theme): void {
  applyTheme(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It holds until the page is left.
  }
}
