// The identity of a subscriber of a presence channel, from its application's signature or from its sign-in.
import { MAX_USER_ID_LENGTH, MAX_USER_INFO_BYTES } from "./limits.ts";

export interface MemberIdentity {
  userId: string;
  /** Undefined when the application gives no information about the user. `JSON.stringify` writes what the signer wrote. */
  userInfo: unknown;
}

/**
 * Reads the identity.
 * @param channelData JSON with `user_id` and `user_info`; undefined for a user that signed in.
 * @returns the identity, or the fault as a sentence.
 */
export function memberOf(
  channelData: string | undefined,
  user: { member: MemberIdentity | string } | null,
): MemberIdentity | string {
  if (channelData === undefined) return user === null ? "channel_data must be given" : user.member;
  const data = objectOf(channelData);
  if (data === null) return "channel_data must be a JSON object";
  const userId = userIdOf(exactly(channelData, data, "user_id"));
  if (userId === null) return `user_id must be a text of 1 to ${MAX_USER_ID_LENGTH} characters or a number`;
  return identityOf(userId, channelData, data);
}

/**
 * The identity, or the fault as a sentence.
 * @param data the object that the text holds as JSON, perhaps with `user_info`.
 */
export function identityOf(
  userId: string,
  text: string,
  data: Record<string, unknown>,
): MemberIdentity | string {
  const userInfo = asWritten(text, data, "user_info");
  const json = userInfo === undefined ? "" : jsonOf(userInfo);
  if (json === null || Buffer.byteLength(json) > MAX_USER_INFO_BYTES)
    return `user_info must be at most ${MAX_USER_INFO_BYTES} bytes`;
  return { userId, userInfo };
}

/** A user's id as text, or null for a value that cannot be an id. */
export function userIdOf(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (typeof value !== "string" || value === "" || value.length > MAX_USER_ID_LENGTH) return null;
  return value;
}

/** Null for a value that is nested so deeply that it can be read but not written. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/**
 * A property with one or more ids, of the object that a text holds as JSON. Whole numbers that a number cannot hold are
 * given as the text that the signer wrote: several users would have the same id otherwise.
 */
export function exactly(text: string, object: Record<string, unknown>, name: string): unknown {
  const value = object[name];
  const isExact = Array.isArray(value) ? !value.some(isInexact) : !isInexact(value);
  return isExact ? value : objectOf(text, withOwnText)?.[name];
}

/** Another number is written as it was read. */
const MAY_CHANGE = /\d{16}|\d[.eE]|-0/;

/** A property of the object that a text holds as JSON, in which each number is written with the digits of the text. */
function asWritten(text: string, object: Record<string, unknown>, name: string): unknown {
  const value = object[name];
  if (value === undefined || !MAY_CHANGE.test(text)) return value;
  // Null for an object that is nested so deeply that it cannot be written either.
  return objectOf(text, withOwnDigits)?.[name] ?? value;
}

function withOwnDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const digits = context?.source;
  return typeof value === "number" && digits !== undefined ? rawJson(digits) : value;
}

function isInexact(value: unknown): boolean {
  return typeof value === "number" && !Number.isSafeInteger(value);
}

function withOwnText(_key: string, value: unknown, context?: { source?: string }): unknown {
  const text = context?.source ?? "";
  return isInexact(value) && /^-?\d+$/.test(text) ? text : value;
}

/** A value that `JSON.stringify` writes as this text. The types of the language do not know this function yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

/** The object that a text holds as JSON, or null. */
export function objectOf(text: string, reviver?: typeof withOwnText): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text, reviver);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
