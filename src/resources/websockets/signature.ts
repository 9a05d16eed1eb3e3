// Signed requests to the HTTP API of a WebSocket cluster, as the servers of an application send them.
import { createHash, createHmac } from "node:crypto";

/** The key of an application, with a secret that is valid. */
export interface ApplicationKey {
  appId: string;
  key: string;
  secret: string;
}

/** The path with the signature that the protocol's HTTP API demands. @param body of a POST. */
export function signedPath(
  { method, path, body }: { method: "GET" | "POST"; path: string; body?: string },
  { key, secret }: ApplicationKey,
): string {
  const members = [
    `auth_key=${key}`,
    `auth_timestamp=${Math.floor(Date.now() / 1000)}`,
    "auth_version=1.0",
    ...(body === undefined ? [] : [`body_md5=${createHash("md5").update(body).digest("hex")}`]),
  ];
  const query = members.join("&");
  const signature = createHmac("sha256", secret).update(`${method}\n${path}\n${query}`).digest("hex");
  return `${path}?${query}&auth_signature=${signature}`;
}
