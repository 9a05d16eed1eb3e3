// The login at a MariaDB: its greeting, encryption where the address is public, and the proof of the password.
import { createHash } from "node:crypto";
import { NATIVE_PASSWORD, tokenOf } from "../../../lib/native-password.ts";
import { NoSession } from "./faults.ts";
import { MESSAGE_BYTES } from "./limits.ts";
import { Payloads, type Payload } from "./mysql-payloads.ts";
import { refusalOf } from "./mysql-refusal.ts";
import type { StatementLogin } from "./session.ts";
import { Wire } from "./wire.ts";

/** The first bytes of answers. */
export const OK = 0x00;
export const ERROR = 0xff;
const SWITCH_PLUGIN = 0xfe;

const CAN_START_TLS = 0x0000_0800;
/**
 * LONG_PASSWORD, LONG_FLAG, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, MULTI_RESULTS, PLUGIN_AUTH.
 * Without MULTI_STATEMENTS the engine takes one statement in a text, and without LOCAL_FILES it asks for no file.
 */
const CAPABILITIES = 0x0000_0001 | 0x4 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x2_0000 | 0x8_0000;
const LARGEST_PAYLOAD = 0x4000_0000;
/** utf8mb4_general_ci. */
const COLLATION = 45;
const RESERVED_BYTES = 23;
const SALT_START_BYTES = 8;
const SALT_END_BYTES = 12;

interface Greeting {
  threadId: number;
  salt: Uint8Array;
  canStartTls: boolean;
}

export interface MysqlConnection {
  wire: Wire;
  payloads: Payloads;
  /** The number by which other connections can cancel its statement. */
  threadId: number;
}

/**
 * Connects and logs in, with TLS where other machines reach the cluster and it has a certificate.
 * @throws NoSession, StatementRefused in the words of the engine.
 */
export async function logIntoMysql(
  login: StatementLogin,
  opened?: (wire: Wire) => void,
): Promise<MysqlConnection> {
  const wire = await Wire.open(login, opened);
  const payloads = new Payloads(wire);
  const greeting = await readGreeting(await payloads.receive());
  const isTls = login.isPublic && greeting.canStartTls;
  if (isTls) {
    payloads.send(fixedPart(CAPABILITIES | CAN_START_TLS));
    await wire.startTls();
  }
  const passwordHash = createHash("sha1").update(login.password).digest();
  const capabilities = isTls ? CAPABILITIES | CAN_START_TLS : CAPABILITIES;
  payloads.send(responseTo(greeting, login, passwordHash, capabilities));
  await prove(payloads, passwordHash);
  return { wire, payloads, threadId: greeting.threadId };
}

async function readGreeting(payload: Payload): Promise<Greeting> {
  const version = await payload.uint(1);
  if (version === ERROR) throw refusalOf(await payload.rest(MESSAGE_BYTES));
  await payload.untilZero();
  const threadId = await payload.uint(4);
  const saltStart = Buffer.from(await payload.read(SALT_START_BYTES));
  await payload.skip(1);
  const capabilities = await payload.uint(2);
  // Collation, status, further capabilities, the length of the salt, reserved bytes.
  await payload.skip(1 + 2 + 2 + 1 + 10);
  const saltEnd = Buffer.from(await payload.read(SALT_END_BYTES));
  await payload.skipRest();
  return {
    threadId,
    salt: Buffer.concat([saltStart, saltEnd]),
    canStartTls: (capabilities & CAN_START_TLS) !== 0,
  };
}

function fixedPart(capabilities: number): Buffer {
  const bytes = Buffer.alloc(9 + RESERVED_BYTES);
  bytes.writeUInt32LE(capabilities, 0);
  bytes.writeUInt32LE(LARGEST_PAYLOAD, 4);
  bytes.writeUInt8(COLLATION, 8);
  return bytes;
}

function responseTo(
  { salt }: Greeting,
  { username, database }: StatementLogin,
  passwordHash: Uint8Array,
  capabilities: number,
): Buffer {
  const token = tokenOf(passwordHash, salt);
  const fixed = fixedPart(capabilities);
  const texts = Buffer.from(`${database}\0${NATIVE_PASSWORD}\0`);
  return Buffer.concat([fixed, Buffer.from(`${username}\0`), Uint8Array.of(token.length), token, texts]);
}

async function prove(payloads: Payloads, passwordHash: Uint8Array): Promise<void> {
  for (;;) {
    const payload = await payloads.receive();
    const first = await payload.uint(1);
    if (first === ERROR) throw refusalOf(await payload.rest(MESSAGE_BYTES));
    if (first === OK) return await payload.skipRest();
    const plugin = first === SWITCH_PLUGIN ? (await payload.untilZero()).toString() : "unknown";
    if (plugin !== NATIVE_PASSWORD) throw new NoSession(`The cluster asks for a login by ${plugin}.`);
    const salt = (await payload.rest(MESSAGE_BYTES)).subarray(0, SALT_START_BYTES + SALT_END_BYTES);
    payloads.send(tokenOf(passwordHash, salt));
  }
}
