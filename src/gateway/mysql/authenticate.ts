// Has a client prove who it is, without the engine.
import { held, type Backend } from "../backend.ts";
import type { ClientStream, Stream } from "../stream.ts";
import { PLUGIN_AUTH } from "./capabilities.ts";
import { accessDenied, insecureTransport } from "./errors.ts";
import {
  isSslRequest,
  parseHandshakeResponse,
  speaksVersion41,
  type HandshakeResponse,
} from "./handshake-response.ts";
import { NATIVE_PASSWORD, passwordHashOf } from "./native-password.ts";
import type { PacketStream } from "./packets.ts";
import { verifierOf } from "./users.ts";

/** As long as MariaDB itself waits for a client to log in. */
export const LOGIN_MS = 10_000;

const AUTH_SWITCH = 0xfe;
/** Checked for users that are not there, so that it takes as long to say no to them. */
const NOBODY = crypto.getRandomValues(new Uint8Array(20));

/** A client in its login. */
export interface Candidate<C extends ClientStream = ClientStream> {
  client: C;
  packets: PacketStream;
  /** What its answers are for. */
  salt: Uint8Array;
  /** Whether errors to it have an SQL state. */
  speaksVersion41: boolean;
}

/**
 * The client's answer to the greeting, after TLS if it wishes for it.
 * @throws ProtocolError, MalformedPayload, NotThisProtocol, StreamEnded
 */
export async function readHandshakeResponse(candidate: Candidate): Promise<HandshakeResponse> {
  const { client, packets } = candidate;
  let payload = await packets.receive();
  if (isSslRequest(payload) && client.canStartTls) {
    await client.startTls();
    payload = await packets.receive();
  }
  candidate.speaksVersion41 = speaksVersion41(payload);
  if (client.mustStartTls && client.tls === null) throw insecureTransport();
  return parseHandshakeResponse(payload);
}

/**
 * What the client proves its password with, for mysql_native_password.
 * @returns empty when it has none.
 */
export async function readToken(
  { packets, salt }: Candidate,
  response: HandshakeResponse,
): Promise<Uint8Array> {
  const { plugin, capabilities, proof } = response;
  const isNative = plugin === null || plugin === NATIVE_PASSWORD;
  if (isNative || (capabilities & PLUGIN_AUTH) === 0) return proof;
  packets.send(
    Buffer.concat([Uint8Array.of(AUTH_SWITCH), Buffer.from(`${NATIVE_PASSWORD}\0`), salt, Uint8Array.of(0)]),
  );
  return await packets.receive();
}

/**
 * SHA1(password) of the user, recovered from the token. A running engine is asked for its users again before a token is refused,
 * since passwords may be changed there; one that sleeps is not woken.
 * @throws ProtocolError when the password is wrong or there is no such user, which look the same; EngineUnavailable, StreamEnded.
 */
export async function authenticate<C extends ClientStream, E extends Stream>(
  { client, salt }: Candidate<C>,
  backend: Backend<C, E>,
  user: string,
  token: Uint8Array,
): Promise<Uint8Array> {
  const check = () => {
    const verifier = verifierOf(backend.entry, user);
    const passwordHash = passwordHashOf(token, salt, verifier ?? NOBODY);
    return verifier === null ? null : passwordHash;
  };
  const known = check();
  if (known !== null) return known;
  if (token.length > 0 && (await held(client, LOGIN_MS, () => backend.settled(client))) === "running") {
    await backend.refreshUsers();
    const fresh = check();
    if (fresh !== null) return fresh;
  }
  throw accessDenied(user, hostOf(client.address), token.length > 0);
}

/** An address without its port and brackets. */
function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":")).replace(/^\[(.*)\]$/, "$1");
}
