// Authenticates a client without the engine.
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
import { NATIVE_PASSWORD, passwordHashOf } from "../../lib/native-password.ts";
import type { PacketStream } from "./packets.ts";
import { provedFormer, verifierOf, type ProvedPassword } from "./users.ts";

/** The login timeout of MariaDB. */
export const LOGIN_MS = 10_000;

const AUTH_SWITCH = 0xfe;
/** The verifier of unknown users: their refusal takes as long as a wrong password's. */
const NOBODY = crypto.getRandomValues(new Uint8Array(20));

/** A client during its login. */
export interface Candidate<C extends ClientStream = ClientStream> {
  client: C;
  packets: PacketStream;
  /** The salt of the greeting, for which the client computes its proof. */
  salt: Uint8Array;
  /** Whether errors to the client have an SQL state. */
  speaksVersion41: boolean;
}

/**
 * The client's answer to the greeting, after the start of TLS if the client asks for TLS.
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
 * The client's token for mysql_native_password.
 * @returns no bytes for a client without a password.
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
 * The password that the token proves. Before a refusal the users are refreshed from a running engine,
 * since customers change passwords there; a sleeping engine is not woken.
 * @throws ProtocolError for a wrong password and for an unknown user alike; EngineUnavailable, StreamEnded.
 */
export async function authenticate<C extends ClientStream, E extends Stream>(
  { client, salt }: Candidate<C>,
  backend: Backend<C, E>,
  user: string,
  token: Uint8Array,
): Promise<ProvedPassword> {
  const check = () => {
    const verifier = verifierOf(backend.entry, user);
    const passwordHash = passwordHashOf(token, salt, verifier ?? NOBODY);
    if (verifier === null) return null;
    if (passwordHash !== null) return { verifier, passwordHash };
    return provedFormer(backend.entry, user, token, salt);
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
