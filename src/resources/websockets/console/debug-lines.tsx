// The lines of the debug page, of which only the visible part is drawn, and the whole of the chosen line.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import { Code } from "../../../console/parts/copy.tsx";
import { Facts } from "../../../console/parts/layout.tsx";
import type { WebsocketDebugEvent } from "../../../sdk/index.ts";
import type { DebugLine } from "./debug-feed.ts";
import { channelOf, factsOf, titleOf } from "./debug-text.ts";

const ROW_PX = 34;
const OVERSCAN = 10;

const time = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  // Half a day would need two letters more in each line.
  hourCycle: "h23",
});

const DOTS: Partial<Record<WebsocketDebugEvent["type"], string>> = {
  connected: "bg-good",
  published: "bg-accent",
  client_event: "bg-accent",
  refused: "bg-bad",
  webhook_failed: "bg-bad",
  webhook_dropped: "bg-bad",
};

export function DebugLines({ lines }: { lines: readonly DebugLine[] }) {
  const [chosen, setChosen] = useState<DebugLine | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    getItemKey: (index) => lines[index]?.number ?? index,
  });
  return (
    <>
      <div
        ref={box}
        role="region"
        aria-label="What happened, the newest first"
        tabIndex={0}
        className="h-96 overflow-y-auto rounded-lg border border-line"
      >
        <ol className="relative m-0 list-none p-0" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, key, start }) => {
            const line = lines[index];
            return (
              line && (
                <li
                  key={key}
                  aria-setsize={lines.length}
                  aria-posinset={index + 1}
                  className="absolute inset-x-0 top-0"
                  style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
                >
                  <Line
                    line={line}
                    isChosen={line.number === chosen?.number}
                    choose={() => setChosen(line.number === chosen?.number ? null : line)}
                  />
                </li>
              )
            );
          })}
        </ol>
      </div>
      {chosen && <Whole event={chosen.event} />}
    </>
  );
}

function Line(props: { line: DebugLine; isChosen: boolean; choose: () => void }) {
  const { line, isChosen, choose } = props;
  const { event } = line;
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={choose}
      className="grid size-full grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3 border-b border-line px-3 text-left text-sm hover:bg-hover aria-pressed:bg-tint sm:grid-cols-[6.5rem_8.5rem_minmax(0,1fr)_minmax(0,2fr)]"
    >
      <time dateTime={event.at} className="hidden font-mono text-xs text-soft sm:block">
        {time.format(new Date(event.at))}
      </time>
      <span className="flex items-center gap-2 whitespace-nowrap">
        <span aria-hidden className={`size-1.5 shrink-0 rounded-full ${DOTS[event.type] ?? "bg-rest"}`} />
        {titleOf(event)}
      </span>
      <span className="hidden truncate font-mono text-xs sm:block">{channelOf(event)}</span>
      <span className="truncate text-xs text-soft">
        <span className="sm:hidden">{channelOf(event)} </span>
        {factsOf(event)}
      </span>
    </button>
  );
}

/** All members of a line; data that is JSON is laid out. */
function Whole({ event }: { event: WebsocketDebugEvent }) {
  const facts = Object.entries(event)
    .filter(([name, value]) => name !== "data" && name !== "type" && value !== null)
    .map(([name, value]): [string, string] => [name.replaceAll("_", " "), String(value)]);
  const data = "data" in event ? event.data : null;
  return (
    <div className="mt-3 rounded-lg border border-line p-4">
      <h3 className="mt-0 mb-2 text-base font-semibold">{titleOf(event)}</h3>
      <Facts facts={facts} />
      {data !== null && (
        <div className="mt-3">
          <Code label="data" text={data} shown={laidOut(data)} />
        </div>
      )}
    </div>
  );
}

function laidOut(data: string): string {
  try {
    return JSON.stringify(JSON.parse(data), undefined, 2);
  } catch {
    return data;
  }
}
