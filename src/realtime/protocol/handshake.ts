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

const PREFIX = "/app/";
/** How the query of nearly all clients begins, which saves looking closer. */
const USUAL = `protocol=${NEWEST_PROTOCOL}&`;

/** @returns the key of the application, or why the client is turned away. */
export function readHandshake(path: string, query: string): { key: string } | { refusal: CloseReason } {
  const key = path.slice(PREFIX.length);
  if (!path.startsWith(PREFIX) || key === "" || key.includes("/")) return { refusal: PATH_UNKNOWN };
  if (query.startsWith(USUAL)) return { key };
  const protocol = /(?:^|&)protocol=([^&]*)/.exec(query)?.[1];
  if (protocol === undefined || protocol === "") return { refusal: VERSION_MISSING };
  if (!/^\d{1,9}$/.test(protocol)) return { refusal: VERSION_INVALID };
  const version = Number(protocol);
  if (version < OLDEST_PROTOCOL || version > NEWEST_PROTOCOL) return { refusal: VERSION_UNSUPPORTED };
  return { key };
}
