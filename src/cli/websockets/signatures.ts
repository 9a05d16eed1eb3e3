// The proof to a cluster that an application admits a client: HMAC-SHA256 with the application's secret.
import { createHash, createHmac } from "node:crypto";

/** The key and the secret that an application signs with. */
export interface Credentials {
  key: string;
  secret: string;
}

/** Admits a connection to a private channel; with `channelData`, which names its user, to a presence channel. */
export function channelAuth(
  credentials: Credentials,
  socketId: string,
  channel: string,
  channelData?: string,
): string {
  const text = channelData === undefined ? `${socketId}:${channel}` : `${socketId}:${channel}:${channelData}`;
  return authOf(credentials, text);
}

/** Signs a user in on a connection. */
export function userAuth(credentials: Credentials, socketId: string, userData: string): string {
  return authOf(credentials, `${socketId}::user::${userData}`);
}

/**
 * The query that signs a request to the HTTP API of a cluster.
 * @param nowMs since 1970; a cluster takes only requests of the last ten minutes.
 */
export function signedQuery(
  { key, secret }: Credentials,
  request: { method: string; path: string; body: string },
  nowMs: number,
): string {
  const { method, path, body } = request;
  const bodyHash = createHash("md5").update(body).digest("hex");
  // In alphabetical order, as the signature demands.
  const parameters = [
    `auth_key=${key}`,
    `auth_timestamp=${Math.floor(nowMs / 1000)}`,
    "auth_version=1.0",
    `body_md5=${bodyHash}`,
  ].join("&");
  return `${parameters}&auth_signature=${hmacHex(secret, `${method}\n${path}\n${parameters}`)}`;
}

function authOf({ key, secret }: Credentials, text: string): string {
  return `${key}:${hmacHex(secret, text)}`;
}

function hmacHex(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}
