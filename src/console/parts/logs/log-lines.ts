// The lines of a log that a page shows: first the kept lines, then each new line when the engine writes it.
import { useEffect, useRef, useState } from "react";
import { type EnvironmentLogFilter, PilviUnreachable } from "../../../sdk/index.ts";

/** An entry of any log. */
interface ShownEntry {
  message: string;
  level: "debug" | "info" | "warning" | "error";
  type: string;
  logged_at: string | null;
  data?: Record<string, unknown> | null;
}

/** Selects entries; only the log of an environment has all members. */
export type ShownFilter = Pick<EnvironmentLogFilter, "from" | "query" | "tail" | "type">;

/** The requests about a log; the collections of all kinds have them. */
export interface LogReader {
  logs(
    id: string,
    options: ShownFilter & { cursor?: string; perPage?: number; signal: AbortSignal },
  ): Promise<{ data: ShownEntry[]; meta: { cursor: string; is_complete: boolean } }>;
  followLogs(
    id: string,
    options: ShownFilter & { cursor?: string; signal: AbortSignal },
  ): AsyncIterable<ShownEntry>;
}

/** A page keeps the latest lines, this many at most. */
const MAX_LINES = 5_000;
const PER_PAGE = 1_000;
/** How often new lines appear; an engine may write thousands a second. */
const FLUSH_MS = 150;
const RETRY_MS = 2_000;

/** A line with a number of its own. */
export interface LogLine extends ShownEntry {
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
export function useLogLines(reader: LogReader, id: string, filter: ShownFilter, isHeld: boolean): LogState {
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
    void followAll(reader, id, JSON.parse(key) as ShownFilter, { signal: ending.signal, add, show });
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
async function followAll(reader: LogReader, id: string, filter: ShownFilter, { signal, add, show }: Sink) {
  let number = 0;
  let cursor: string | undefined;
  const addAll = (entries: ShownEntry[]) => {
    for (const entry of entries) add({ ...entry, number: number++ });
  };
  const { query, type } = filter;
  const selected = { ...(query !== undefined && { query }), ...(type !== undefined && { type }) };
  while (!signal.aborted) {
    try {
      for (let isComplete = false; !isComplete;) {
        const begin = cursor === undefined ? filter : { cursor, ...selected };
        const { data, meta } = await reader.logs(id, { ...begin, perPage: PER_PAGE, signal });
        addAll(data);
        cursor = meta.cursor;
        isComplete = meta.is_complete;
      }
      show({ phase: "live", error: null });
      const rest = { ...selected, ...(cursor !== undefined && { cursor }), signal };
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
