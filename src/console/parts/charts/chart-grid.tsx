// The charts of a resource side by side, with one cursor for all of them.
import { type KeyboardEvent, useCallback, useRef, useState } from "react";
import { ChartFigure, type SharedCursor } from "./figure.tsx";
import { PaletteSource, paletteOf } from "./palette.tsx";
import { type ShownSeries, titleOf } from "./timeline.ts";
import { momentText, timeZone } from "./times.ts";
import { valueText } from "./units.ts";

type GridProps = { shown: readonly ShownSeries[] } & Pick<SharedCursor, "timeline" | "restWord">;

/** All charts have the same cursor, which the pointer or the arrow keys move. */
export function ChartGrid({ shown, timeline, restWord }: GridProps) {
  const [cursor, setCursor] = useState<number | null>(null);
  const [spoken, setSpoken] = useState("");
  const source = useRef<HTMLSpanElement>(null);
  const readPalette = useCallback(() => paletteOf(source.current ?? document.body), []);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = cursorAfter(event.key, cursor, timeline.times.length);
    if (next === undefined) return;
    event.preventDefault();
    setCursor(next);
    setSpoken(next === null ? "" : sentenceAt(next, { shown, timeline, restWord }));
  };
  return (
    <>
      <PaletteSource ref={source} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <div
        role="group"
        tabIndex={0}
        aria-label="Charts. The arrow keys move the cursor."
        onKeyDown={onKeyDown}
        className="grid grid-cols-1 gap-x-8 gap-y-6 rounded-md sm:grid-cols-2 lg:grid-cols-3"
      >
        {shown.map(({ chart, lines }) => (
          <ChartFigure
            key={chart.title}
            {...{ chart, lines, timeline, restWord, cursor, readPalette }}
            onCursor={setCursor}
          />
        ))}
      </div>
      <p role="status" className="sr-only">
        {spoken}
      </p>
      <Key isAnySleep={timeline.isAsleep.includes(true)} restWord={restWord} />
    </>
  );
}

function Key({ isAnySleep, restWord }: { isAnySleep: boolean; restWord: string }) {
  return (
    <p className="mt-3 mb-0 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-soft">
      {isAnySleep && (
        <span className="inline-flex items-center gap-1.5">
          <span aria-hidden className="size-3 rounded-sm bg-rest/20" />
          {restWord}
        </span>
      )}
      <span>Times are those of {timeZone}.</span>
    </p>
  );
}

/** The position of the cursor after a key; undefined for a key without a meaning here. */
function cursorAfter(key: string, cursor: number | null, length: number): number | null | undefined {
  const last = length - 1;
  switch (key) {
    case "ArrowLeft":
      return Math.max(0, (cursor ?? length) - 1);
    case "ArrowRight":
      return Math.min(last, (cursor ?? last - 1) + 1);
    case "Home":
      return 0;
    case "End":
      return last;
    case "Escape":
      return null;
    default:
      return undefined;
  }
}

function sentenceAt(index: number, { shown, timeline, restWord }: GridProps): string {
  const time = momentText(timeline.times[index] ?? 0);
  if (timeline.isAsleep[index] === true) return `${time}: ${restWord}.`;
  const values = shown.flatMap(({ chart, lines }) =>
    lines.flatMap((line) => {
      const value = line.values[index];
      return typeof value === "number" ? [`${titleOf(chart, line)} ${valueText(chart.unit, value)}`] : [];
    }),
  );
  return `${time}: ${values.length === 0 ? "nothing was measured" : values.join(", ")}.`;
}
