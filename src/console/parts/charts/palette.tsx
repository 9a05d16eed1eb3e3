// The colours of charts. A canvas knows no style sheet, so they are read from elements that have them.
import type { Ref } from "react";

/** The colours of the lines, in their order. All of them stand out from the page in both themes. */
export const LINE_COLORS = ["text-accent", "text-work", "text-rest", "text-bad"] as const;

/** The strokes of the lines, since they differ by more than their colour: the lengths of dashes and gaps. */
export const DASHES: readonly number[][] = [[], [5, 3], [1.5, 2.5], [7, 2, 1.5, 2]];

/** Colours as a canvas takes them. */
export interface Palette {
  lines: readonly string[];
  text: string;
  grid: string;
  asleep: string;
  /** The font of the page. */
  font: string;
}

/** Of the axes, of the grid, and of the stretches asleep. */
const OTHERS = ["text-soft", "text-line", "text-rest/20"] as const;

/** Elements that are not shown, for `paletteOf`. */
export function PaletteSource({ ref }: { ref: Ref<HTMLSpanElement> }) {
  return (
    <span ref={ref} hidden>
      {[...LINE_COLORS, ...OTHERS].map((color) => (
        <i key={color} className={color} />
      ))}
    </span>
  );
}

/** The colours of the present theme. */
export function paletteOf(source: HTMLElement): Palette {
  const colors = Array.from(source.children, (each) => getComputedStyle(each).color);
  const [text = "", grid = "", asleep = ""] = colors.slice(LINE_COLORS.length);
  const font = getComputedStyle(source).fontFamily;
  return { lines: colors.slice(0, LINE_COLORS.length), text, grid, asleep, font };
}

/** Calls back whenever the theme has changed. @returns a function that ends it. */
export function onThemeChange(callback: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(callback);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", callback);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", callback);
  };
}
