// Reads the URL that a client connects to: `/app/KEY?protocol=7&client=js&version=8.4.0`.
import {
  PATH_UNKNOWN,
  VERSION_INVALID,
  VERSION_MISSING,
  VERSION_UNSUPPORTED,
  type CloseReason,
} from "./close-codes.ts";

/** Earlier ones have `data` as an object, which no client of today expects. */
const OLDEST_PROTOCOL = 5;
const NEWEST_PROTOCOL = 7;

/** @returns the key of the application, or why the client is turned away. */
export function readHandshake(path: string, query: string): { key: string } | { refusal: CloseReason } {
  const key = /^\/app\/([^/]+)$/.exec(path)?.[1];
  if (key === undefined) return { refusal: PATH_UNKNOWN };
  const protocol = /(?:^|&)protocol=([^&]*)/.exec(query)?.[1];
  if (protocol === undefined || protocol === "") return { refusal: VERSION_MISSING };
  if (!/^\d{1,9}$/.test(protocol)) return { refusal: VERSION_INVALID };
  const version = Number(protocol);
  if (version < OLDEST_PROTOCOL || version > NEWEST_PROTOCOL) return { refusal: VERSION_UNSUPPORTED };
  return { key };
}
