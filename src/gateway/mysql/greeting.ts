// The first packet of a connection, HandshakeV10, in both directions.
import type { EngineTraits } from "./engine-traits.ts";
import { SSL } from "./capabilities.ts";
import { NATIVE_PASSWORD, SALT_BYTES } from "../../lib/native-password.ts";
import { NotThisProtocol } from "./packets.ts";
import { PayloadReader } from "./payload-reader.ts";

const PROTOCOL_VERSION = 10;
/** The part of the salt before the capability flags. */
const SALT_START_BYTES = 8;
const STATUS_AUTOCOMMIT = 2;

/** The members of a greeting that matter. */
export interface Greeting {
  threadId: number;
  salt: Uint8Array;
}

/** A greeting like the engine's own. */
export function greetingPayload(
  { threadId, salt }: Greeting,
  traits: EngineTraits,
  canStartTls: boolean,
): Uint8Array {
  const capabilities = traits.capabilities | (canStartTls ? SSL : 0);
  const version = Buffer.from(`${traits.greetedVersion}\0`);
  const fixed = Buffer.alloc(4 + SALT_START_BYTES + 1 + 2 + 1 + 2 + 2 + 1 + 6 + 4);
  let at = fixed.writeUInt32LE(threadId, 0);
  fixed.set(salt.subarray(0, SALT_START_BYTES), at);
  at = fixed.writeUInt16LE(capabilities & 0xffff, at + SALT_START_BYTES + 1);
  at = fixed.writeUInt8(traits.collation, at);
  at = fixed.writeUInt16LE(STATUS_AUTOCOMMIT, at);
  at = fixed.writeUInt16LE(capabilities >>> 16, at);
  at = fixed.writeUInt8(SALT_BYTES + 1, at);
  fixed.writeUInt32LE(traits.extendedCapabilities, at + 6);
  const saltEnd = salt.subarray(SALT_START_BYTES);
  const plugin = Buffer.from(`\0${NATIVE_PASSWORD}\0`);
  return Buffer.concat([Uint8Array.of(PROTOCOL_VERSION), version, fixed, saltEnd, plugin]);
}

/**
 * Reads the greeting of an engine.
 * @throws MalformedPayload, NotThisProtocol
 */
export function parseGreeting(payload: Uint8Array): Greeting {
  const reader = new PayloadReader(payload);
  if (reader.uint(1) !== PROTOCOL_VERSION) throw new NotThisProtocol();
  reader.untilZero();
  const threadId = reader.uint(4);
  const saltStart = reader.bytes(SALT_START_BYTES);
  // A zero, flags, collation, status, flags, length of the salt, reserved bytes.
  reader.bytes(1 + 2 + 1 + 2 + 2 + 1 + 10);
  const saltEnd = reader.bytes(SALT_BYTES - SALT_START_BYTES);
  return { threadId, salt: Buffer.concat([saltStart, saltEnd]) };
}
