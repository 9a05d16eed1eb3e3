// The metrics as a table, for screen readers and for exact values: a row for each time, the latest first.
import type { SharedCursor } from "./figure.tsx";
import { type ShownSeries, titleOf } from "./timeline.ts";
import { momentText } from "./times.ts";
import { valueText } from "./units.ts";

const CELL = "border-b border-line px-2 py-1 whitespace-nowrap";

export function MetricsTable(
  props: { shown: readonly ShownSeries[] } & Pick<SharedCursor, "timeline" | "restWord">,
) {
  const { shown, timeline, restWord } = props;
  const rows = timeline.times
    .map((at, index) => ({ at, index }))
    .filter(({ index }) => timeline.isMeasured[index] === true)
    .toReversed();
  const columns = shown.flatMap(({ chart, lines }) =>
    lines.map((line) => ({ line, unit: chart.unit, title: titleOf(chart, line) })),
  );
  const textAt = (index: number, value: string | undefined) =>
    value ?? (timeline.isAsleep[index] === true ? restWord : "–");
  return (
    // It scrolls by itself, so the keyboard must reach it.
    <div
      role="region"
      aria-label="Metrics as a table"
      tabIndex={0}
      className="max-h-[32rem] overflow-auto rounded-md border border-line"
    >
      <table className="w-full border-separate border-spacing-0 text-sm tabular-nums">
        <thead>
          <tr>
            <th scope="col" className={`${CELL} sticky top-0 left-0 z-10 bg-panel text-left font-medium`}>
              Time
            </th>
            {columns.map(({ title }) => (
              <th key={title} scope="col" className={`${CELL} sticky top-0 bg-panel text-right font-medium`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, index }) => (
            <tr key={at}>
              <th scope="row" className={`${CELL} sticky left-0 bg-panel text-left font-normal`}>
                <time dateTime={new Date(at * 1000).toISOString()}>{momentText(at)}</time>
              </th>
              {columns.map(({ line, unit, title }) => {
                const value = line.values[index];
                return (
                  <td key={title} className={`${CELL} text-right`}>
                    {textAt(index, typeof value === "number" ? valueText(unit, value) : undefined)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
