// A minimal client of MySQL: it logs in with `mysql_native_password`, and asks one query.
import { createHash } from "node:crypto";
import type { Login } from "./clients.ts";
import { Refusal, Wire, type Place } from "./wire.ts";

/** CLIENT_LONG_PASSWORD, _CONNECT_WITH_DB, _PROTOCOL_41, _TRANSACTIONS, _SECURE_CONNECTION and _PLUGIN_AUTH. */
const CAPABILITIES = 0x1 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000;
const MOST_BYTES = 0xffffff;
const UTF8MB4 = 45;
const PLUGIN = "mysql_native_password";
const COM_QUERY = 3;
/** First bytes of answers. */
const ANSWER = { ok: 0x00, error: 0xff, authSwitch: 0xfe };
/** The number of columns, one column, the end of columns, one row, the end of rows. */
const RESULT_PACKETS = 5;

interface Packet {
  sequence: number;
  body: Buffer;
}

/** Connects, logs in and asks; the session stays open. @throws Refusal with the error's number. */
export async function askMysql(place: Place, login: Login): Promise<Wire> {
  const wire = await Wire.open(place);
  try {
    await authenticate(wire, login);
    send(wire, 0, Buffer.concat([Buffer.from([COM_QUERY]), Buffer.from("select 1")]));
    for (let count = 0; count < RESULT_PACKETS; count += 1) await readPacket(wire);
    return wire;
  } catch (error) {
    wire.close();
    throw error;
  }
}

async function authenticate(wire: Wire, login: Login): Promise<void> {
  const greeting = await readPacket(wire);
  send(wire, greeting.sequence + 1, response(login, saltOf(greeting.body)));
  for (;;) {
    const { sequence, body } = await readPacket(wire);
    if (body[0] === ANSWER.ok) return;
    if (body[0] !== ANSWER.authSwitch) throw new Error(`the server answers ${body[0]} to a login`);
    const end = body.indexOf(0, 1);
    const plugin = body.toString("utf8", 1, end);
    if (plugin !== PLUGIN) throw new Error(`the server asks for ${plugin}`);
    send(wire, sequence + 1, scramble(login.password, body.subarray(end + 1, end + 21)));
  }
}

/** The 20 random bytes of a `HandshakeV10`, which come in two parts. */
function saltOf(greeting: Buffer): Buffer {
  const versionEnd = greeting.indexOf(0, 1);
  const first = versionEnd + 1 + 4;
  // Between them lie filler, capabilities, character set, status, capabilities, length of the salt and ten reserved
  // bytes.
  const second = first + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10;
  return Buffer.concat([greeting.subarray(first, first + 8), greeting.subarray(second, second + 12)]);
}

function response({ username, password, database }: Login, salt: Buffer): Buffer {
  const head = Buffer.alloc(32);
  head.writeUInt32LE(CAPABILITIES, 0);
  head.writeUInt32LE(MOST_BYTES, 4);
  head[8] = UTF8MB4;
  const token = scramble(password, salt);
  const names = [Buffer.from(`${username}\0`), Buffer.from([token.length]), token];
  return Buffer.concat([head, ...names, Buffer.from(`${database}\0${PLUGIN}\0`)]);
}

function scramble(password: string, salt: Buffer): Buffer {
  const once = sha1(Buffer.from(password));
  const mask = sha1(Buffer.concat([salt, sha1(once)]));
  return Buffer.from(once.map((byte, index) => byte ^ (mask[index] ?? 0)));
}

function sha1(bytes: Buffer): Buffer {
  return createHash("sha1").update(bytes).digest();
}

function send(wire: Wire, sequence: number, body: Buffer): void {
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = sequence;
  wire.write(Buffer.concat([head, body]));
}

async function readPacket(wire: Wire): Promise<Packet> {
  const head = await wire.read(4);
  const body = await wire.read(head.readUIntLE(0, 3));
  // The SQLSTATE follows the number; a server that is not ready to talk leaves it out.
  if (body[0] === ANSWER.error) throw new Refusal(String(body.readUInt16LE(1)), body.toString("utf8", 3));
  return { sequence: head[3] ?? 0, body };
}
