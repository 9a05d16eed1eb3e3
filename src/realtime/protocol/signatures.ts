// Signatures of the Pusher protocol: HMAC-SHA256 in hexadecimal, compared in constant time.
import { hmacHex } from "./hmac.ts";

export { hmacHex };

/** MD5 in lower-case hexadecimal. */
export function md5Hex(content: string | Uint8Array): string {
  return Bun.MD5.hash(content, "hex");
}

/** Whether one of the secrets made the signature of the text. All secrets are tried, so the time reveals nothing. */
export function isSignedBy(secrets: readonly string[], text: string, signature: string): boolean {
  let isSigned = false;
  for (const secret of secrets) {
    if (isSame(hmacHex(secret, text), signature)) isSigned = true;
  }
  return isSigned;
}

/**
 * Compares every character, so the time does not reveal how much of a guess was right; quicker than making buffers of
 * both.
 */
function isSame(expected: string, given: string): boolean {
  let differences = expected.length ^ given.length;
  for (let index = 0; index < expected.length; index++) {
    differences |= expected.charCodeAt(index) ^ given.charCodeAt(index);
  }
  return differences === 0;
}

/** The text that a subscriber of a private channel needs a signature of; with `channelData` on presence channels. */
export function channelText(socketId: string, channel: string, channelData?: string): string {
  return channelData === undefined ? `${socketId}:${channel}` : `${socketId}:${channel}:${channelData}`;
}

/** The text that a user needs a signature of to sign in. */
export function userText(socketId: string, userData: string): string {
  return `${socketId}::user::${userData}`;
}

/**
 * Whether an `auth` of a client, `KEY:SIGNATURE`, proves that the application signed the text.
 * @param secrets the secrets that are valid now.
 */
export function isAuthorized(
  auth: unknown,
  { key, secrets }: { key: string; secrets: readonly string[] },
  text: string,
): boolean {
  if (typeof auth !== "string" || !auth.startsWith(`${key}:`)) return false;
  return isSignedBy(secrets, text, auth.slice(key.length + 1));
}
