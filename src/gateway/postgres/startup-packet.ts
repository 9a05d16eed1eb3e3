// Parses the first packet of a client: a request for encryption, for a cancel, or for a session.
import { ProtocolError, SQLSTATE } from "./errors.ts";
import { REQUEST } from "./messages.ts";

/** Versions of the protocol as in packets: major and minor in 16 bits each. */
const [VERSION_OF_OLD_ENGINES, VERSION_OF_POSTGRES_18] = [0x3_0000, 0x3_0002];

const MAJOR = 3;

/** Longer names are cut to this length, as in Postgres (NAMEDATALEN). */
const MAX_NAME_BYTES = 63;

const REPLICATION = "replication";
/** The texts that Postgres reads as false, in any case: the beginnings of words that are unique. */
const FALSE = /^(?:0|off?|no?|f(?:a(?:l(?:se?)?)?)?)$/i;

/** The prefix of options of the protocol itself; the gateway knows no such option. */
const PROTOCOL_OPTION = "_pq_.";

/** The longest cancel key; keys of protocol 3.0 have 4 bytes. */
const MAX_CANCEL_KEY_BYTES = 256;

/** A request for a session. */
export interface Startup {
  user: string;
  /** Absent when the client named no database; Postgres takes the user's name then. */
  database?: string;
  application?: string;
  /** The requested version, at most the engine's newest. */
  version: number;
  /** Whether the client asked for a newer version. */
  isTooNew: boolean;
  /** The requested options of the protocol, which the client does not get. */
  unknownOptions: string[];
  /** The parameters for the engine, user and database first; each character is one byte. */
  parameters: [string, string][];
}

/** The first packet of a client. */
export type Opening =
  | { kind: "tls" | "gss" }
  | { kind: "cancel"; pid: number; key: Uint8Array }
  | { kind: "startup"; startup: Startup }
  /** A packet that gets no answer. */
  | { kind: "invalid" };

/** The newest protocol version that the engine itself agrees to. @param version the engine's, such as `17.10`. */
export function newestVersionOf({ version }: { version: string }): number {
  return Number.parseInt(version, 10) < 18 ? VERSION_OF_OLD_ENGINES : VERSION_OF_POSTGRES_18;
}

/**
 * @param packet the packet without its length; at least 4 bytes.
 * @param newest the newest protocol version of the engine.
 * @throws ProtocolError where Postgres answers with an error.
 */
export function readOpening(packet: Buffer, newest: number): Opening {
  switch (packet.readInt32BE()) {
    case REQUEST.tls:
      return { kind: "tls" };
    case REQUEST.gss:
      return { kind: "gss" };
    case REQUEST.cancel:
      return readCancel(packet);
    default:
      return { kind: "startup", startup: readStartup(packet, newest) };
  }
}

function readCancel(packet: Buffer): Opening {
  const keyBytes = packet.length - 8;
  if (keyBytes < 1 || keyBytes > MAX_CANCEL_KEY_BYTES) return { kind: "invalid" };
  return { kind: "cancel", pid: packet.readInt32BE(4), key: packet.subarray(8) };
}

/** The error for an unsupported version; a request at a wrong time looks like an unsupported version too. */
export function unsupportedVersion(version: number, newest: number): ProtocolError {
  const text = `unsupported frontend protocol ${textOfVersion(version)}: server supports 3.0 to ${textOfVersion(newest)}`;
  return new ProtocolError(SQLSTATE.featureNotSupported, text);
}

/**
 * The answer of Postgres where `max_wal_senders` is 0, as in all clusters. The engine gives it before it asks for a
 * password, so to leave it to the engine would show which users exist.
 */
function noReplication(): ProtocolError {
  const text = 'number of requested standby connections exceeds "max_wal_senders" (currently 0)';
  return new ProtocolError(SQLSTATE.tooManyConnections, text);
}

function textOfVersion(version: number): string {
  return `${version >>> 16}.${version & 0xffff}`;
}

function readStartup(packet: Buffer, newest: number): Startup {
  const version = packet.readUInt32BE();
  if (version >>> 16 !== MAJOR) throw unsupportedVersion(version, newest);
  const all = readParameters(packet.subarray(4));
  if (all.some(([name, value]) => name === REPLICATION && !FALSE.test(value))) throw noReplication();
  // The last value of a name counts.
  const given = new Map(all);
  const user = (given.get("user") ?? "").slice(0, MAX_NAME_BYTES);
  if (user === "") {
    throw new ProtocolError(
      SQLSTATE.invalidAuthorization,
      "no PostgreSQL user name specified in startup packet",
    );
  }
  const database = (given.get("database") ?? "").slice(0, MAX_NAME_BYTES);
  const application = given.get("application_name");
  const names: [string, string][] = [["user", user]];
  if (database !== "") names.push(["database", database]);
  return {
    user: textOf(user),
    ...(database === "" ? {} : { database: textOf(database) }),
    ...(application === undefined ? {} : { application: textOf(application) }),
    version: Math.min(version, newest),
    isTooNew: version > newest,
    unknownOptions: all.map(([name]) => name).filter((name) => name.startsWith(PROTOCOL_OPTION)),
    parameters: [...names, ...all.filter(([name]) => !isOwn(name))],
  };
}

/** Names and values up to an empty name, which must be the last byte. */
function readParameters(body: Buffer): [string, string][] {
  const texts = body.toString("latin1").split("\0");
  const end = texts.findIndex((text, index) => index % 2 === 0 && text === "");
  // Only the empty rest of `split` follows the closing zero.
  if (end === -1 || end !== texts.length - 2 || texts.at(-1) !== "") {
    const problem = "invalid startup packet layout: expected terminator as last byte";
    throw new ProtocolError(SQLSTATE.protocolViolation, problem);
  }
  return Array.from({ length: end / 2 }, (_, pair) => [texts[pair * 2] ?? "", texts[pair * 2 + 1] ?? ""]);
}

/** Whether the gateway sends the parameter in its own form, or not at all. */
function isOwn(name: string): boolean {
  return name === "user" || name === "database" || name.startsWith(PROTOCOL_OPTION);
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString();
}
