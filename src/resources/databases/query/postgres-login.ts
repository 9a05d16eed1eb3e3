// The login at a Postgres: encryption where the address is public, the startup packet, SCRAM-SHA-256.
import { pbkdf2 } from "node:crypto";
import { promisify } from "node:util";
import { hmac, sha256, type Verifier } from "../../../lib/scram.ts";
import { ScramClient, type Challenge } from "../../../lib/scram-client.ts";
import { NoSession } from "./faults.ts";
import {
  int32,
  message,
  readBody,
  readHeader,
  refusalOf,
  sslRequest,
  startup,
  zeroEnded,
} from "./postgres-messages.ts";
import type { StatementLogin } from "./session.ts";
import { Wire } from "./wire.ts";

const SCRAM = "SCRAM-SHA-256";
const KEY_BYTES = 32;
/** A customer may store a verifier of its own, and each iteration takes processor time here. */
const MAX_ITERATIONS = 100_000;

/** The kinds of AuthenticationRequest. */
const AUTHENTICATED = 0;
const SASL_CONTINUE = 11;
const SASL_FINAL = 12;

const derive = promisify(pbkdf2);

/** Connects, with TLS where other machines reach the cluster and it has a certificate. */
export async function openPostgresWire(login: StatementLogin, opened?: (wire: Wire) => void): Promise<Wire> {
  const wire = await Wire.open(login, opened);
  if (!login.isPublic) return wire;
  wire.write(sslRequest);
  if ((await wire.read(1)).toString() === "S") await wire.startTls();
  return wire;
}

/**
 * Logs in.
 * @returns the key by which other connections can cancel the session's statement.
 * @throws NoSession, StatementRefused in the words of the engine.
 */
export async function logIntoPostgres(
  wire: Wire,
  login: StatementLogin,
  settings: Record<string, string>,
): Promise<Buffer> {
  const { username, database } = login;
  wire.write(startup({ user: username, database, ...settings }));
  const scram = new ScramClient();
  let challenge: Challenge | null = null;
  let cancelKey: Buffer = Buffer.alloc(0);
  for (;;) {
    const header = await readHeader(wire);
    const body = await readBody(wire, header);
    if (header.type === "E") throw refusalOf(body);
    if (header.type === "K") cancelKey = body;
    if (header.type === "Z") return cancelKey;
    if (header.type !== "R") continue;
    const kind = body.readInt32BE();
    const text = body.toString("latin1", 4);
    if (kind === AUTHENTICATED || kind === SASL_FINAL) continue;
    if (kind === SASL_CONTINUE) {
      challenge = scram.readServerFirst(text);
      if (challenge === null) throw new NoSession("The cluster does not speak SCRAM-SHA-256.");
      wire.write(message("p", Buffer.from(await answerTo(scram, challenge, login.password))));
    } else {
      const first = Buffer.from(scram.first);
      wire.write(message("p", zeroEnded(SCRAM), int32(first.length), first));
    }
  }
}

async function answerTo(scram: ScramClient, challenge: Challenge, password: string): Promise<string> {
  const { salt, iterations } = challenge.hashing;
  if (iterations > MAX_ITERATIONS)
    throw new NoSession("The user's password is stored with too many iterations.");
  const salted = await derive(password, Buffer.from(salt, "base64"), iterations, KEY_BYTES, "sha256");
  const clientKey = hmac(salted, "Client Key");
  const verifier: Verifier = {
    salt,
    iterations,
    storedKey: sha256(clientKey),
    serverKey: hmac(salted, "Server Key"),
  };
  return scram.final(challenge, clientKey, verifier);
}
