// A chart with its title and its lines, which show their values at the cursor.
import { DASHES, LINE_COLORS, type Palette } from "./palette.tsx";
import { Plot } from "./plot.tsx";
import type { Chart } from "./series.ts";
import { latestOf, type Line, type Timeline } from "./timeline.ts";
import { momentText } from "./times.ts";
import { type Unit, valueText } from "./units.ts";

/** What the charts of a section share. */
export interface SharedCursor {
  timeline: Timeline;
  cursor: number | null;
  onCursor: (index: number | null) => void;
  readPalette: () => Palette;
  /** What a gap is called in which the instance had no process. */
  restWord: string;
}

export function ChartFigure(props: { chart: Chart; lines: readonly Line[] } & SharedCursor) {
  const { chart, lines, timeline, cursor, onCursor, readPalette } = props;
  const at = cursor === null ? undefined : timeline.times[cursor];
  return (
    <figure className="m-0 flex min-w-0 flex-col gap-1">
      <figcaption className="flex items-baseline gap-2">
        <span className="grow text-sm font-medium">{chart.title}</span>
        {at !== undefined && <span className="text-xs text-soft">{momentText(at)}</span>}
      </figcaption>
      <ul className="m-0 flex list-none flex-wrap gap-x-3 p-0 text-xs">
        {lines.map((line, index) => (
          <li key={line.name} className="flex items-center gap-1.5">
            <Stroke index={index} />
            {(chart.lines !== undefined || lines.length > 1) && (
              <span className="text-soft">{line.name}</span>
            )}
            <span className="tabular-nums">{shownValue(line, chart.unit, props)}</span>
          </li>
        ))}
      </ul>
      <Plot
        label={pictureText(chart, lines)}
        unit={chart.unit}
        {...{ lines, timeline, cursor, onCursor, readPalette }}
      />
    </figure>
  );
}

/** The stroke of a line, in the legend. */
function Stroke({ index }: { index: number }) {
  return (
    <svg aria-hidden viewBox="0 0 14 2" className={`h-0.5 w-3.5 ${LINE_COLORS[index]}`}>
      <path d="M0 1h14" stroke="currentColor" strokeWidth={2} strokeDasharray={DASHES[index]?.join(" ")} />
    </svg>
  );
}

/** The value at the cursor, or the latest value. */
function shownValue(line: Line, unit: Unit, { cursor, timeline, restWord }: SharedCursor): string {
  const value = cursor === null ? latestOf(line) : line.values[cursor];
  if (typeof value === "number") return valueText(unit, value);
  return cursor !== null && timeline.isAsleep[cursor] === true ? restWord : "–";
}

/** A picture in words. */
function pictureText({ title, unit }: Chart, lines: readonly Line[]): string {
  const parts = lines.map((line) => {
    const known = line.values.filter((value) => value !== null);
    if (known.length === 0) return `${line.name}: no values`;
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    const highest = known.reduce((most, value) => Math.max(most, value), 0);
    const [last, middle, most] = [known.at(-1) ?? 0, mean, highest].map((value) => valueText(unit, value));
    return `${line.name}: latest ${last}, mean ${middle}, highest ${most}`;
  });
  return `${title}. ${parts.join("; ")}.`;
}
