// The requests about the log of a resource's engine.
import type { LogEntry, LogsDocument } from "../resources/shared/logs-schema.ts";
import type { Connection } from "./connection.ts";
import { followMessages } from "./follow.ts";

/** Selects lines of a log. */
export interface LogFilter {
  /** ISO 8601: only lines of this time or later. */
  from?: string;
  /** Only lines with this text, in whatever case. */
  query?: string;
  /** Begins with the last lines, this many of them, before they are filtered. */
  tail?: number;
}

/** Selects a page of a log. */
export interface LogPageOptions extends LogFilter {
  /** ISO 8601: only lines before this time. */
  to?: string;
  /** `meta.cursor` of the page before. */
  cursor?: string;
  perPage?: number;
  signal?: AbortSignal;
}

/** @param path of the resource. */
export async function readLogs(
  connection: Connection,
  path: string,
  { to, cursor, perPage, signal, ...filter }: LogPageOptions,
): Promise<LogsDocument> {
  const query = queryOf({ ...filter, to, cursor, per_page: perPage });
  return await connection.send<LogsDocument>({ method: "GET", path: `${path}/logs`, query, signal });
}

/** @param path of the resource. @param options.cursor goes on after an earlier page; else it begins with new lines. */
export async function* followLogs(
  connection: Connection,
  path: string,
  { cursor, signal, ...filter }: LogFilter & { cursor?: string; signal?: AbortSignal },
): AsyncGenerator<LogEntry, void> {
  const query = (after: string | undefined) => queryOf({ ...filter, cursor: after, follow: "true" });
  const messages = followMessages(connection, { path: `${path}/logs`, query, after: cursor, signal });
  for await (const { isEvent, data } of messages) if (isEvent) yield JSON.parse(data) as LogEntry;
}

/** The members of a query that are given. */
export function queryOf(members: Record<string, string | number | undefined>): URLSearchParams {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
}
