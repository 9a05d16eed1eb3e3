// The log of an engine: searched, in a range of time, and followed; only lines in sight are drawn.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { Button } from "../button.tsx";
import { Empty, Failure, Loading } from "../layout.tsx";
import { type LogLine, type LogReader, type LogState, type ShownFilter, useLogLines } from "./log-lines.ts";
import { LOG_RANGES, LOG_TYPES, type LogSearch } from "./log-search.ts";
import { logText } from "./log-text.ts";

interface LogViewProps {
  reader: LogReader;
  id: string;
  isAsleep: boolean;
  /** Whether its entries have types that can be chosen. */
  hasTypes?: boolean;
  search: LogSearch;
  setSearch(change: Partial<LogSearch>): void;
}

const LATEST = 500;
const ROW_PX = 22;
const OVERSCAN = 20;
/** The end counts as reached this close to it. */
const END_PX = 40;

export function LogView({ reader, id, isAsleep, hasTypes = false, search, setSearch }: LogViewProps) {
  const { q, range = "latest", type } = search;
  const [isHeld, setHeld] = useState(false);
  const [attempt, setAttempt] = useState(0);
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <SearchField {...{ search, setSearch }} />
        <select
          aria-label="Range of time"
          className="input w-auto"
          value={range}
          onChange={(event) => setSearch({ range: event.target.value as LogSearch["range"] })}
        >
          {Object.entries(LOG_RANGES).map(([value, { label }]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        {hasTypes && (
          <select
            aria-label="Type of entries"
            className="input w-auto"
            value={type ?? "all"}
            onChange={(event) => setSearch({ type: event.target.value as LogSearch["type"] })}
          >
            {Object.entries(LOG_TYPES).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
        <Button aria-pressed={isHeld} onClick={() => setHeld(!isHeld)}>
          {isHeld ? "Resume" : "Pause"}
        </Button>
      </div>
      {isAsleep && (
        <p className="mt-0 mb-2 text-sm text-soft">
          It sleeps. Its log can be read all the same, and reading wakes nothing.
        </p>
      )}
      <LogPane
        key={`${attempt} ${range} ${type} ${q}`}
        {...{ reader, id, q, range, type, isHeld }}
        retry={() => setAttempt(attempt + 1)}
      />
    </>
  );
}

function LogPane(props: {
  reader: LogReader;
  id: string;
  q: string | undefined;
  range: keyof typeof LOG_RANGES;
  type: LogSearch["type"];
  isHeld: boolean;
  retry(): void;
}) {
  const { reader, id, q, range, type, isHeld, retry } = props;
  const [filter] = useState(() => filterOf(q, range, type));
  const state = useLogLines(reader, id, filter, isHeld);
  if (state.error !== null) return <Failure error={state.error} retry={retry} />;
  return (
    <>
      <p role="status" className="mt-0 mb-1 text-xs text-soft">
        {statusText(state, isHeld)}
      </p>
      <Lines state={state} isFiltered={q !== undefined} isHeld={isHeld} />
    </>
  );
}

function filterOf(
  q: string | undefined,
  range: keyof typeof LOG_RANGES,
  type: LogSearch["type"],
): ShownFilter {
  const { minutes } = LOG_RANGES[range];
  return {
    ...(minutes !== null && { from: new Date(Date.now() - minutes * 60_000).toISOString() }),
    // A search looks through everything that is kept.
    ...(range === "latest" && q === undefined && { tail: LATEST }),
    ...(q !== undefined && { query: q }),
    ...(type !== undefined && type !== "all" && { type }),
  };
}

function statusText({ phase, held, lines }: LogState, isHeld: boolean): string {
  if (phase === "offline") return "Offline, trying again";
  if (phase === "reading") return "Reading";
  if (isHeld) return held === 0 ? "Paused" : `Paused, ${held} new ${held === 1 ? "line" : "lines"}`;
  return `Live, ${lines.length} ${lines.length === 1 ? "line" : "lines"}`;
}

function SearchField({ search, setSearch }: Pick<LogViewProps, "search" | "setSearch">) {
  const [text, setText] = useState(search.q ?? "");
  return (
    <form
      role="search"
      className="grow sm:max-w-80"
      onSubmit={(event) => {
        event.preventDefault();
        setSearch({ q: text.trim() || undefined });
      }}
    >
      <input
        type="search"
        aria-label="Search in the log"
        placeholder="Search, then Enter"
        maxLength={200}
        className="input w-full"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          if (event.target.value === "") setSearch({ q: undefined });
        }}
      />
    </form>
  );
}

function Lines({ state, isFiltered, isHeld }: { state: LogState; isFiltered: boolean; isHeld: boolean }) {
  const { lines, phase } = state;
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => lines[index]?.number ?? index,
    overscan: OVERSCAN,
  });
  useEffect(() => {
    if (lines.length > 0 && isAtEnd.current && !isHeld)
      rows.scrollToIndex(lines.length - 1, { align: "end" });
  }, [rows, lines, isHeld]);
  if (lines.length === 0 && phase !== "live") return <Loading lines={8} />;
  if (lines.length === 0) {
    return isFiltered ? (
      <Empty title="No line has this text" text="New lines with it appear here when they are written." />
    ) : (
      <Empty title="Nothing in this range of time" text="New lines appear here when they are written." />
    );
  }
  return (
    <div
      ref={box}
      // A region that scrolls must be reachable by keyboard.
      tabIndex={0}
      role="region"
      aria-label="Lines of the log"
      className="h-[calc(100vh-19rem)] min-h-72 overflow-auto rounded-lg border border-line bg-sunken py-2 font-mono text-xs"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_PX;
      }}
    >
      <ol className="relative m-0 list-none p-0" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const line = lines[index];
          return (
            line && (
              <li
                key={key}
                ref={rows.measureElement}
                data-index={index}
                className="absolute inset-x-0 top-0 hover:bg-hover"
                style={{ transform: `translateY(${start}px)` }}
              >
                <Line line={line} />
              </li>
            )
          );
        })}
      </ol>
    </div>
  );
}

const LEVEL_LOOKS = {
  debug: "text-soft",
  info: "text-soft",
  warning: "text-work",
  error: "text-bad",
} as const;

const clock = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
});

function Line({ line }: { line: LogLine }) {
  const { logged_at: at, level, type } = line;
  const look =
    type === "system" ? "text-accent" : level === "error" || level === "warning" ? LEVEL_LOOKS[level] : "";
  return (
    <div className="flex flex-wrap gap-x-3 px-3 py-0.5 sm:grid sm:grid-cols-[11.5rem_4rem_minmax(0,1fr)]">
      {at === null ? <span /> : <time dateTime={at}>{clock.format(new Date(at))}</time>}
      <span className={LEVEL_LOOKS[level]}>{level}</span>
      <span className={`basis-full break-all whitespace-pre-wrap ${look}`}>{logText(line)}</span>
    </div>
  );
}
