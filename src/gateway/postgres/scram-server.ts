// SCRAM-SHA-256 as the server: verifies a client's proof of its password, with or without channel binding to TLS.
import { ProtocolError, SQLSTATE } from "./errors.ts";
import {
  hmac,
  isSame,
  readKey,
  SCRAM,
  SCRAM_PLUS,
  sha256,
  xor,
  type Hashing,
  type Verifier,
} from "../../lib/scram.ts";

/** The only supported channel binding (RFC 5929). */
const BINDING = "tls-server-end-point";

/** An attribute and its value, such as `r=nonce`; the value has no comma. */
const ATTRIBUTE = /^([A-Za-z])=(.*)$/s;

/** Printable ASCII without the comma. */
const NONCE = /^[\x21-\x2b\x2d-\x7e]+$/;

/** The members of a client-first-message. */
export interface ClientFirst {
  /** The message from the user's name on. */
  bare: string;
  nonce: string;
  /** The text that the client must repeat in its final message, in Base64. */
  binding: string;
}

/** The members of a client-final-message. */
export interface ClientFinal {
  /** The text that both sides sign. */
  authMessage: string;
  proof: Buffer;
}

/** The mechanisms to offer, the best first. @param endPoint the channel binding of the connection; null without TLS. */
export function mechanismsFor(endPoint: Uint8Array | null): string[] {
  return endPoint === null ? [SCRAM] : [SCRAM_PLUS, SCRAM];
}

/**
 * @param text the client-first-message, each character one byte.
 * @param endPoint as for `mechanismsFor`.
 * @throws ProtocolError as Postgres does.
 */
export function readClientFirst(mechanism: string, text: string, endPoint: Uint8Array | null): ClientFirst {
  if (!mechanismsFor(endPoint).includes(mechanism)) {
    throw violation("client selected an invalid SASL authentication mechanism");
  }
  const [flag = "", identity, ...rest] = partsOf(text);
  const bound = checkFlag(flag, mechanism === SCRAM_PLUS, endPoint);
  if (identity?.startsWith("a")) {
    throw unsupported("client uses authorization identity, but it is not supported");
  }
  if (identity !== "") throw malformed("The authorization identity is missing or wrong.");
  if (rest[0]?.startsWith("m")) throw unsupported("client requires an unsupported SCRAM extension");
  const [name, nonce, ...extensions] = rest.map(readAttribute);
  if (name?.key !== "n" || nonce?.key !== "r") throw malformed("A user name and a nonce were expected.");
  if (!NONCE.test(nonce.value)) throw violation("non-printable characters in SCRAM nonce");
  if (extensions.some(({ key }) => key === "m")) throw malformed("An extension stands at a wrong place.");
  const header = Buffer.from(`${flag},,`, "latin1");
  return {
    bare: rest.join(","),
    nonce: nonce.value,
    binding: Buffer.concat([header, bound]).toString("base64"),
  };
}

/** @returns the channel binding data; empty without a binding. */
function checkFlag(flag: string, isPlus: boolean, endPoint: Uint8Array | null): Uint8Array {
  if (flag === "n" || flag === "y") {
    if (isPlus) throw malformed("The mechanism with a channel binding was chosen, but there is none.");
    if (flag === "n" || endPoint === null) return new Uint8Array();
    // The client supports the binding and believes that it was not offered: a man in the middle has removed it.
    throw new ProtocolError(
      SQLSTATE.invalidAuthorization,
      "SCRAM channel binding negotiation error",
      "The client supports channel binding and was offered it, but saw no offer.",
    );
  }
  if (!flag.startsWith("p=")) throw malformed("The flag for the channel binding is none of n, y, p.");
  if (!isPlus || endPoint === null) {
    throw malformed("The mechanism without a channel binding was chosen, but there is one.");
  }
  if (flag !== `p=${BINDING}`) throw violation("unsupported SCRAM channel-binding type");
  return endPoint;
}

/** server-first-message. @param nonce the server's part. */
export function serverFirst(first: ClientFirst, { salt, iterations }: Hashing, nonce: string): string {
  return `r=${first.nonce}${nonce},s=${salt},i=${iterations}`;
}

/**
 * @param challenge the server-first-message that the text answers.
 * @param text the client-final-message, each character one byte.
 * @throws ProtocolError as Postgres does.
 */
export function readClientFinal(first: ClientFirst, challenge: string, text: string): ClientFinal {
  const parts = partsOf(text);
  const [binding, nonce, ...others] = parts.map(readAttribute);
  const proof = others.at(-1);
  if (binding?.key !== "c" || nonce?.key !== "r" || proof?.key !== "p") {
    throw malformed("A channel binding, a nonce and a proof were expected.");
  }
  if (others.filter(({ key }) => key === "p").length > 1) throw malformed("Something follows the proof.");
  if (others.some(({ key }) => key === "m"))
    throw unsupported("client requires an unsupported SCRAM extension");
  checkBinding(first, binding.value);
  if (`r=${nonce.value}` !== partsOf(challenge)[0])
    throw violation("invalid SCRAM response", "The nonce is wrong.");
  const key = readKey(proof.value);
  if (key === null) throw malformed("The proof is malformed.");
  const withoutProof = parts.slice(0, -1).join(",");
  return { authMessage: `${first.bare},${challenge},${withoutProof}`, proof: key };
}

function checkBinding(first: ClientFirst, given: string): void {
  if (given === first.binding) return;
  if (Buffer.from(first.binding, "base64").toString("latin1").startsWith("p")) {
    throw new ProtocolError(SQLSTATE.invalidAuthorization, "SCRAM channel binding check failed");
  }
  throw violation("unexpected SCRAM channel-binding attribute in client-final-message");
}

/** The ClientKey from a right proof; null for a wrong proof. */
export function recoverClientKey(
  { storedKey }: Pick<Verifier, "storedKey">,
  { authMessage, proof }: ClientFinal,
): Buffer | null {
  const clientKey = xor(proof, hmac(storedKey, authMessage));
  return isClientKeyOf({ storedKey }, clientKey) ? clientKey : null;
}

/** Whether a text is the ClientKey of a verifier. */
export function isClientKeyOf({ storedKey }: Pick<Verifier, "storedKey">, clientKey: Uint8Array): boolean {
  return isSame(sha256(clientKey), storedKey);
}

/** server-final-message, with which the server proves that it has the verifier. */
export function serverFinal({ serverKey }: Verifier, { authMessage }: ClientFinal): string {
  return `v=${hmac(serverKey, authMessage).toString("base64")}`;
}

function partsOf(text: string): string[] {
  if (text === "") throw malformed("The message is empty.");
  if (text.includes("\0")) throw malformed("The message has a zero in it.");
  return text.split(",");
}

function readAttribute(text: string): { key: string; value: string } {
  const match = ATTRIBUTE.exec(text);
  if (match === null) throw malformed("An attribute was expected.");
  return { key: match[1] ?? "", value: match[2] ?? "" };
}

function malformed(detail: string): ProtocolError {
  return violation("malformed SCRAM message", detail);
}

function violation(text: string, detail?: string): ProtocolError {
  return new ProtocolError(SQLSTATE.protocolViolation, text, detail);
}

function unsupported(text: string): ProtocolError {
  return new ProtocolError(SQLSTATE.featureNotSupported, text);
}
