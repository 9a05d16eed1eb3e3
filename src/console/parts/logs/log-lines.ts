// The lines of a log that a page shows: first the kept lines, then each new line when the engine writes it.
import { useEffect, useRef, useState } from "react";
import { type LogEntry, type LogFilter, type PilviClient, PilviUnreachable } from "../../../sdk/index.ts";

/** The requests about a log; the collections of all kinds have them. */
export type LogReader = Pick<PilviClient["caches"], "logs" | "followLogs">;

/** A page keeps the latest lines, this many at most. */
const MAX_LINES = 5_000;
const PER_PAGE = 1_000;
/** How often new lines appear; an engine may write thousands a second. */
const FLUSH_MS = 150;
const RETRY_MS = 2_000;

/** A line with a number of its own. */
export interface LogLine extends LogEntry {
  number: number;
}

export interface LogState {
  lines: LogLine[];
  /** How many lines have come while the page was held. */
  held: number;
  phase: "reading" | "live" | "offline";
  error: unknown;
}

const START: LogState = { lines: [], held: 0, phase: "reading", error: null };

/**
 * Reads a log from the first draw of a component on; another filter needs another component.
 * @param isHeld whether new lines wait.
 */
export function useLogLines(reader: LogReader, id: string, filter: LogFilter, isHeld: boolean): LogState {
  const [state, setState] = useState(START);
  const held = useRef(isHeld);
  const waiting = useRef<LogLine[]>([]);
  const key = JSON.stringify(filter);
  useEffect(() => {
    held.current = isHeld;
  }, [isHeld]);
  useEffect(() => {
    const ending = new AbortController();
    waiting.current = [];
    const show = (change: Partial<LogState>) =>
      !ending.signal.aborted && setState((old) => ({ ...old, ...change }));
    const flush = () => {
      const { length } = waiting.current;
      if (held.current) return setState((old) => (old.held === length ? old : { ...old, held: length }));
      if (length === 0) return;
      const come = waiting.current;
      waiting.current = [];
      setState((old) => ({ ...old, held: 0, lines: [...old.lines, ...come].slice(-MAX_LINES) }));
    };
    const timer = setInterval(flush, FLUSH_MS);
    const add = (line: LogLine) => {
      waiting.current.push(line);
      if (waiting.current.length > MAX_LINES) waiting.current.shift();
    };
    void followAll(reader, id, JSON.parse(key) as LogFilter, { signal: ending.signal, add, show });
    return () => {
      ending.abort();
      clearInterval(timer);
    };
  }, [reader, id, key]);
  return state;
}

interface Sink {
  signal: AbortSignal;
  add(line: LogLine): void;
  show(change: Partial<LogState>): void;
}

/** Reads what is kept, then follows; a lost connection is tried again, a refusal is not. */
async function followAll(reader: LogReader, id: string, filter: LogFilter, { signal, add, show }: Sink) {
  let number = 0;
  let cursor: string | undefined;
  const addAll = (entries: LogEntry[]) => {
    for (const entry of entries) add({ ...entry, number: number++ });
  };
  const { query } = filter;
  while (!signal.aborted) {
    try {
      for (let isComplete = false; !isComplete;) {
        const begin = cursor === undefined ? filter : { cursor, ...(query !== undefined && { query }) };
        const { data, meta } = await reader.logs(id, { ...begin, perPage: PER_PAGE, signal });
        addAll(data);
        cursor = meta.cursor;
        isComplete = meta.is_complete;
      }
      show({ phase: "live", error: null });
      const rest = { ...(query !== undefined && { query }), ...(cursor !== undefined && { cursor }), signal };
      for await (const entry of reader.followLogs(id, rest)) addAll([entry]);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof PilviUnreachable)) return show({ error });
      show({ phase: "offline" });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
