// The client's answer to the greeting, HandshakeResponse41, and the gateway's own answer to the engine.
import {
  COMPRESS,
  CONNECT_ATTRS,
  CONNECT_WITH_DB,
  PLUGIN_AUTH,
  PLUGIN_AUTH_LENENC,
  PROTOCOL_41,
  SECURE_CONNECTION,
  SSL,
  ZSTD,
} from "./capabilities.ts";
import { compressionRefused, tooOldClient } from "./errors.ts";
import { NATIVE_PASSWORD } from "../../lib/native-password.ts";
import { PayloadReader } from "./payload-reader.ts";

/** Flags, largest packet, collation, and reserved bytes, where MariaDB's clients have further flags. */
const FIXED_BYTES = 32;
const FLAGS_BYTES = 4;

export interface HandshakeResponse {
  /** The first 32 bytes, which the engine gets too. */
  fixed: Uint8Array;
  capabilities: number;
  user: string;
  /** The proof of the password; empty without a password. */
  proof: Uint8Array;
  database: Uint8Array | null;
  /** The plugin of the proof; null when the client knows only one plugin. */
  plugin: string | null;
  /** Keys and values as the client sent them, without their total length. */
  attributes: Uint8Array | null;
}

/** Whether the payload is the request for TLS, the fixed part alone. */
export function isSslRequest(payload: Uint8Array): boolean {
  return payload.length === FIXED_BYTES && (capabilitiesOf(payload) & SSL) !== 0;
}

/** Whether errors to this client have an SQL state; a payload too short for the flags counts as new. */
export function speaksVersion41(payload: Uint8Array): boolean {
  return payload.length < FLAGS_BYTES || (capabilitiesOf(payload) & PROTOCOL_41) !== 0;
}

/** @throws MalformedPayload, and ProtocolError for clients that are too old or compress. */
export function parseHandshakeResponse(payload: Uint8Array): HandshakeResponse {
  if (!speaksVersion41(payload)) throw tooOldClient();
  const reader = new PayloadReader(payload);
  const fixed = reader.bytes(FIXED_BYTES);
  const capabilities = capabilitiesOf(fixed);
  if ((capabilities & (COMPRESS | ZSTD)) !== 0) throw compressionRefused();
  const user = new TextDecoder().decode(reader.untilZero());
  const proof = readProof(reader, capabilities);
  const has = (flag: number) => (capabilities & flag) !== 0 && !reader.isAtEnd;
  const database = has(CONNECT_WITH_DB) ? reader.untilZero() : null;
  const plugin = has(PLUGIN_AUTH) ? new TextDecoder().decode(reader.untilZeroOrEnd()) : null;
  const attributes = has(CONNECT_ATTRS) ? reader.lengthEncoded() : null;
  return { fixed, capabilities, user, proof, database, plugin, attributes };
}

function readProof(reader: PayloadReader, capabilities: number): Uint8Array {
  if ((capabilities & PLUGIN_AUTH_LENENC) !== 0) return reader.lengthEncoded();
  if ((capabilities & SECURE_CONNECTION) !== 0) return reader.bytes(reader.uint(1));
  if (reader.untilZero().length > 0) throw tooOldClient();
  return new Uint8Array(0);
}

/** The client's name for itself; null when it is missing or malformed. */
export function applicationOf({ attributes }: HandshakeResponse): string | null {
  if (attributes === null) return null;
  try {
    const all = parseAttributes(attributes);
    return all.get("program_name") ?? all.get("_client_name") ?? null;
  } catch {
    return null;
  }
}

function parseAttributes(attributes: Uint8Array): Map<string, string> {
  const decoder = new TextDecoder();
  const reader = new PayloadReader(attributes);
  const all = new Map<string, string>();
  while (!reader.isAtEnd) {
    all.set(decoder.decode(reader.lengthEncoded()), decoder.decode(reader.lengthEncoded()));
  }
  return all;
}

/** The response with which the gateway logs the client in at the engine, without TLS. */
export function engineResponse(response: HandshakeResponse, token: Uint8Array): Uint8Array {
  const { database, attributes } = response;
  const fixed = Buffer.from(response.fixed);
  const unused = SSL | CONNECT_WITH_DB | CONNECT_ATTRS;
  const used = (database === null ? 0 : CONNECT_WITH_DB) | (attributes === null ? 0 : CONNECT_ATTRS);
  const capabilities = (response.capabilities & ~unused) | used | SECURE_CONNECTION;
  fixed.writeUInt32LE(capabilities >>> 0, 0);
  return Buffer.concat([
    fixed,
    Buffer.from(`${response.user}\0`),
    Uint8Array.of(token.length),
    token,
    ...(database === null ? [] : [database, Uint8Array.of(0)]),
    ...((capabilities & PLUGIN_AUTH) === 0 ? [] : [Buffer.from(`${NATIVE_PASSWORD}\0`)]),
    ...(attributes === null ? [] : [lengthOf(attributes), attributes]),
  ]);
}

/** A length-encoded integer; a length within a payload of at most 16 KiB needs no longer form. */
function lengthOf(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  return length < 0xfb ? Uint8Array.of(length) : Uint8Array.of(0xfc, length & 0xff, length >> 8);
}

/** Clients from before version 4.1 have only 16 flags. */
function capabilitiesOf(payload: Uint8Array): number {
  const reader = new PayloadReader(payload);
  const low = reader.uint(2);
  return (low & PROTOCOL_41) === 0 ? low : low | (reader.uint(2) << 16);
}
