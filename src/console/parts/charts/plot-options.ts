// How uPlot draws a chart: the period from edge to edge, zero at the bottom, and sleep as a tinted stretch.
import type uPlot from "uplot";
import { DASHES, type Palette } from "./palette.tsx";
import { asleepSpans, type Timeline } from "./timeline.ts";
import { axisText } from "./times.ts";
import { axisTop, type Unit, valueText } from "./units.ts";

export const PLOT_HEIGHT = 132;
const AXIS_FONT_PX = 11;
const Y_AXIS_PX = 58;
const X_AXIS_PX = 22;
/** A label of a time may stand at the right edge. */
const HALF_LABEL_PX = 18;
/** The least distance of two labels of an axis. */
const X_SPACE_PX = 64;
const Y_SPACE_PX = 34;
const LINE_PX = 1.5;
const POINT_PX = 6;
const LONE_POINT_PX = 4;

interface PlotInput {
  names: readonly string[];
  unit: Unit;
  timeline: Timeline;
  /** Read for each drawing, since the theme may change. */
  readPalette: () => Palette;
  onCursor: (index: number | null) => void;
}

/** The options of a chart. @param width in CSS pixels. */
export function plotOptions(input: PlotInput, width: number): uPlot.Options {
  const { names, unit, timeline, readPalette, onCursor } = input;
  let palette = readPalette();
  return {
    width,
    height: PLOT_HEIGHT,
    padding: [6, HALF_LABEL_PX, 0, 0],
    legend: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    cursor: {
      y: false,
      drag: { x: false, y: false, setScale: false },
      points: { size: POINT_PX },
      move: snapped,
    },
    scales: {
      x: { time: true, range: () => [timeline.from, timeline.until] },
      y: { range: (_plot, _lowest, highest) => [0, axisTop(unit, highest ?? 0)] },
    },
    axes: axesOf(unit, () => palette),
    series: [{}, ...names.map((label, index) => lineOf(label, index, () => palette))],
    hooks: {
      drawClear: [
        (plot) => {
          palette = readPalette();
          drawSleep(plot, timeline, palette.asleep);
        },
      ],
      setCursor: [({ cursor }) => onCursor(cursor.idx ?? null)],
    },
  };
}

function lineOf(label: string, index: number, palette: () => Palette): uPlot.Series {
  const stroke = () => palette().lines[index] ?? palette().text;
  return {
    label,
    width: LINE_PX,
    stroke,
    dash: DASHES[index] ?? [],
    points: { show: false, filter: lonePoints, size: LONE_POINT_PX, fill: stroke },
  };
}

/** The points without a neighbour, of which a line shows nothing. */
function lonePoints(plot: uPlot, index: number): number[] {
  const values = [...(plot.data[index] ?? [])];
  const isKnown = (at: number) => typeof values[at] === "number";
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
}

/** The times below, and the values at the left. */
function axesOf(unit: Unit, palette: () => Palette): uPlot.Axis[] {
  const font = `${AXIS_FONT_PX}px ${palette().font}`;
  const grid = { stroke: () => palette().grid, width: 1 };
  return [
    {
      font,
      size: X_AXIS_PX,
      gap: 4,
      space: X_SPACE_PX,
      stroke: () => palette().text,
      grid: { show: false },
      ticks: { ...grid, size: 3 },
      values: (_plot, splits, _axis, _space, step) => splits.map((at) => axisText(at, step)),
    },
    {
      font,
      size: Y_AXIS_PX,
      gap: 6,
      space: Y_SPACE_PX,
      stroke: () => palette().text,
      grid,
      ticks: { show: false },
      values: (_plot, splits) => splits.map((value) => valueText(unit, value)),
    },
  ];
}

/** Moves the cursor to the nearest time; left of the plot it stays where it is. */
function snapped(plot: uPlot, left: number, top: number): [left: number, top: number] {
  const at = left < 0 ? undefined : plot.data[0]?.[plot.posToIdx(left)];
  return [typeof at === "number" ? plot.valToPos(at, "x") : left, top];
}

function drawSleep(plot: uPlot, timeline: Timeline, color: string): void {
  const { ctx, bbox } = plot;
  const left = (at: number) =>
    plot.valToPos(Math.max(timeline.from, Math.min(timeline.until, at)), "x", true);
  ctx.save();
  ctx.fillStyle = color;
  for (const { from, until } of asleepSpans(timeline))
    ctx.fillRect(left(from), bbox.top, left(until) - left(from), bbox.height);
  ctx.restore();
}
