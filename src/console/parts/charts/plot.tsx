// One chart: uPlot in a box that follows the width of the page.
import { useEffect, useLayoutEffect, useRef } from "react";
import uPlot from "uplot";
import { onThemeChange, type Palette } from "./palette.tsx";
import { PLOT_HEIGHT, plotOptions } from "./plot-options.ts";
import type { Line, Timeline } from "./timeline.ts";
import type { Unit } from "./units.ts";

/** Left of every plot: no cursor is shown. */
const NOWHERE_PX = -10;

export function Plot(props: {
  /** What a screen reader says in the place of the picture. */
  label: string;
  lines: readonly Line[];
  unit: Unit;
  timeline: Timeline;
  /** The position of the cursor in the times of the timeline; null for no cursor. */
  cursor: number | null;
  onCursor: (index: number | null) => void;
  readPalette: () => Palette;
}) {
  const { label, lines, unit, timeline, cursor, onCursor, readPalette } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  useLayoutEffect(() => {
    const place = box.current;
    if (place === null) return;
    const names = lines.map(({ name }) => name);
    const options = plotOptions({ names, unit, timeline, readPalette, onCursor }, place.clientWidth);
    const data = [[...timeline.times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
    const made = new uPlot(options, data, place);
    plot.current = made;
    const resizing = new ResizeObserver(() =>
      made.setSize({ width: place.clientWidth, height: PLOT_HEIGHT }),
    );
    resizing.observe(place);
    const endThemes = onThemeChange(() => made.redraw(false));
    return () => {
      endThemes();
      resizing.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [lines, unit, timeline, readPalette, onCursor]);
  useEffect(() => {
    const at = cursor === null ? undefined : timeline.times[cursor];
    const left = at === undefined ? NOWHERE_PX : (plot.current?.valToPos(at, "x") ?? NOWHERE_PX);
    plot.current?.setCursor({ left, top: left === NOWHERE_PX ? NOWHERE_PX : 0 }, false);
  }, [cursor, timeline]);
  return <div ref={box} role="img" aria-label={label} className="min-w-0" style={{ height: PLOT_HEIGHT }} />;
}
