// The requests about the log of an environment.
import type {
  EnvironmentLogEntry,
  EnvironmentLogFilterType,
  EnvironmentLogsDocument,
} from "../resources/applications/schema.ts";
import type { Connection } from "./connection.ts";
import { followMessages } from "./follow.ts";
import { queryOf, type LogFilter, type LogPageOptions } from "./logs.ts";

/** Selects entries of the log of an environment; `tail` counts those that the other members select. */
export interface EnvironmentLogFilter extends LogFilter {
  type?: EnvironmentLogFilterType;
  /** Whether the case of `query` matters. */
  caseSensitive?: boolean;
  /** Whether `query` stands for whole words only. */
  wholeWord?: boolean;
  /** Only entries of these processes. */
  instances?: readonly string[];
  /** Only entries of the processes of this deployment. */
  deployment?: string;
}

/** Selects a page of the log of an environment. */
export type EnvironmentLogPageOptions = EnvironmentLogFilter & LogPageOptions;

/** @param path of the environment. */
export async function readEnvironmentLogs(
  connection: Connection,
  path: string,
  { to, cursor, perPage, signal, ...filter }: EnvironmentLogPageOptions,
): Promise<EnvironmentLogsDocument> {
  const query = queryOf({ ...membersOf(filter), to, cursor, per_page: perPage });
  return await connection.send<EnvironmentLogsDocument>({
    method: "GET",
    path: `${path}/logs`,
    query,
    signal,
  });
}

/** @param path of the environment. @param options.cursor goes on after an earlier page; else it begins with new entries. */
export async function* followEnvironmentLogs(
  connection: Connection,
  path: string,
  { cursor, signal, ...filter }: EnvironmentLogFilter & { cursor?: string; signal?: AbortSignal },
): AsyncGenerator<EnvironmentLogEntry, void> {
  const query = (after: string | undefined) =>
    queryOf({ ...membersOf(filter), cursor: after, follow: "true" });
  const messages = followMessages(connection, { path: `${path}/logs`, query, after: cursor, signal });
  for await (const { isEvent, data } of messages) if (isEvent) yield JSON.parse(data) as EnvironmentLogEntry;
}

function membersOf({ caseSensitive, wholeWord, instances, ...others }: EnvironmentLogFilter) {
  return {
    ...others,
    case_sensitive: caseSensitive === true ? "true" : undefined,
    whole_word: wholeWord === true ? "true" : undefined,
    "instances[]": instances?.join(","),
  };
}
