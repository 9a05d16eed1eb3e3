// A minimal client of Postgres: it logs in with SCRAM-SHA-256 (RFC 5802, RFC 7677) and asks one query.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type { Login } from "./clients.ts";
import { Refusal, Wire, type Place } from "./wire.ts";

const PROTOCOL_3_0 = 196_608;
/** The kinds of an `Authentication` message. */
const AUTHENTICATION = { ok: 0, sasl: 10, saslContinue: 11, saslFinal: 12 };

interface Message {
  type: string;
  body: Buffer;
}

/**
 * Salted passwords by password and salt: they take a client longer than all the rest of a login, on either side of a
 * comparison, and never change.
 */
const saltedPasswords = new Map<string, Buffer>();

/** Connects, logs in and asks; the session stays open. @throws Refusal with the SQLSTATE. */
export async function askPostgres(place: Place, login: Login): Promise<Wire> {
  const wire = await Wire.open(place);
  try {
    wire.write(startup(login));
    await authenticate(wire, login.password);
    await until(wire, "Z");
    wire.write(message("Q", text("select 1")));
    await until(wire, "D");
    await until(wire, "Z");
    return wire;
  } catch (error) {
    wire.close();
    throw error;
  }
}

async function authenticate(wire: Wire, password: string): Promise<void> {
  const nonce = randomBytes(18).toString("base64");
  const first = `n=,r=${nonce}`;
  for (;;) {
    const { body } = await until(wire, "R");
    const kind = body.readInt32BE(0);
    if (kind === AUTHENTICATION.ok) return;
    if (kind === AUTHENTICATION.sasl) {
      const initial = Buffer.from(`n,,${first}`);
      wire.write(message("p", Buffer.concat([text("SCRAM-SHA-256"), int32(initial.length), initial])));
    } else if (kind === AUTHENTICATION.saslContinue) {
      wire.write(message("p", Buffer.from(proofFor(body.toString("utf8", 4), first, password))));
    } else if (kind !== AUTHENTICATION.saslFinal) {
      throw new Error(`the server asks for authentication ${kind}`);
    }
  }
}

/**
 * The client's last message.
 * @param challenge the server's first message.
 * @param first the client's first message, without its header.
 */
function proofFor(challenge: string, first: string, password: string): string {
  const [, nonce = "", salt = "", rounds = ""] = /^r=(.*),s=(.*),i=(\d+)$/.exec(challenge) ?? [];
  const last = `c=biws,r=${nonce}`;
  const clientKey = hmac(saltedPassword(password, salt, Number(rounds)), "Client Key");
  const storedKey = createHash("sha256").update(clientKey).digest();
  const signature = hmac(storedKey, `${first},${challenge},${last}`);
  const proof = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0));
  return `${last},p=${Buffer.from(proof).toString("base64")}`;
}

function saltedPassword(password: string, salt: string, rounds: number): Buffer {
  const key = `${password} ${salt} ${rounds}`;
  const known = saltedPasswords.get(key);
  if (known !== undefined) return known;
  const salted = pbkdf2Sync(password, Buffer.from(salt, "base64"), rounds, 32, "sha256");
  saltedPasswords.set(key, salted);
  return salted;
}

/** The next message of a type; messages of other types are skipped. @throws Refusal when it is an error. */
async function until(wire: Wire, type: string): Promise<Message> {
  for (;;) {
    const next = await readMessage(wire);
    if (next.type === "E") throw refusalOf(next.body);
    if (next.type === type) return next;
  }
}

async function readMessage(wire: Wire): Promise<Message> {
  const head = await wire.read(5);
  const type = String.fromCharCode(head[0] ?? 0);
  return { type, body: await wire.read(head.readInt32BE(1) - 4) };
}

function refusalOf(body: Buffer): Refusal {
  const fields = body.toString("utf8").split("\0");
  const field = (name: string) => fields.find((each) => each.startsWith(name))?.slice(1) ?? "";
  return new Refusal(field("C"), field("M"));
}

function startup({ username, database }: Login): Buffer {
  const parameters = ["user", username, "database", database, ""];
  const body = Buffer.concat([int32(PROTOCOL_3_0), ...parameters.map(text)]);
  return Buffer.concat([int32(body.length + 4), body]);
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}
