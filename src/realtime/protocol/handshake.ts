// Reads the URL that a client connects to: `/app/KEY?protocol=7&client=js&version=8.4.0`.
import {
  PATH_UNKNOWN,
  VERSION_INVALID,
  VERSION_MISSING,
  VERSION_UNSUPPORTED,
  type CloseReason,
} from "./close-codes.ts";

/** The documentation has ended the support of older protocols. */
const OLDEST_PROTOCOL = 4;
const NEWEST_PROTOCOL = 7;
/** The protocol of clients that name their version but no protocol: major version 2 came when protocol 5 was new. */
const INFERRED = { fromMajor: 2, protocol: NEWEST_PROTOCOL, before: 5 };

const PREFIX = "/app/";
/** The beginning of nearly every client's query, which saves a closer look. */
const USUAL = `protocol=${NEWEST_PROTOCOL}&`;

/** The request in a URL. */
interface WantedConnection {
  /** The key of the application. */
  key: string;
  /** The version of the protocol. */
  protocol: number;
}

/** The reason for a refusal, and the protocol in which to send it. */
interface RefusedHandshake {
  refusal: CloseReason;
  /** 0 when the client names no version that exists. */
  protocol: number;
}

/** Reads the path and the query, the latter without its question mark. */
export function readHandshake(path: string, query: string): WantedConnection | RefusedHandshake {
  const protocol = query.startsWith(USUAL) ? NEWEST_PROTOCOL : protocolOf(query);
  const key = path.slice(PREFIX.length);
  if (!path.startsWith(PREFIX) || key === "" || key.includes("/"))
    return { refusal: PATH_UNKNOWN, protocol: typeof protocol === "number" ? protocol : 0 };
  if (typeof protocol !== "number") return { refusal: protocol, protocol: 0 };
  const isKnown = protocol >= OLDEST_PROTOCOL && protocol <= NEWEST_PROTOCOL;
  return isKnown ? { key, protocol } : { refusal: VERSION_UNSUPPORTED, protocol };
}

function protocolOf(query: string): number | CloseReason {
  const protocol = parameterOf(query, "protocol");
  if (protocol !== "") return /^\d{1,9}$/.test(protocol) ? Number(protocol) : VERSION_INVALID;
  const version = parameterOf(query, "version");
  if (version === "") return VERSION_MISSING;
  const major = /^(\d{1,9})(?:\.|$)/.exec(version)?.[1];
  if (major === undefined) return VERSION_INVALID;
  return Number(major) >= INFERRED.fromMajor ? INFERRED.protocol : INFERRED.before;
}

/** Empty when the query does not have the parameter. */
function parameterOf(query: string, name: string): string {
  return new RegExp(`(?:^|&)${name}=([^&]*)`).exec(query)?.[1] ?? "";
}
