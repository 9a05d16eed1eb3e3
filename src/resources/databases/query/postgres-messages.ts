// Messages of the Postgres protocol, as its client writes and reads them (PostgreSQL documentation, "Message Formats").
import type { EngineFault } from "../../../api/jsonapi/errors.ts";
import { StatementRefused } from "./faults.ts";
import { MESSAGE_BYTES } from "./limits.ts";
import { textOf, type Notice } from "./result.ts";
import type { Wire } from "./wire.ts";

const PROTOCOL_3 = 196_608;
const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
const LENGTH_BYTES = 4;

/** A message of the engine, of which only the type was read. */
export interface Header {
  type: string;
  /** Of the body. */
  length: number;
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** A text and the zero that ends it; the text must have none of its own. */
export function zeroEnded(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

/** A message with a type, or a packet without a type for an empty string. */
export function message(type: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + LENGTH_BYTES), body]);
}

export function startup(parameters: Record<string, string>): Buffer {
  const texts = Object.entries(parameters).flatMap(([name, value]) => [zeroEnded(name), zeroEnded(value)]);
  return message("", int32(PROTOCOL_3), ...texts, Buffer.alloc(1));
}

export const sslRequest = message("", int32(SSL_REQUEST));

/** @param key the process and the secret of a session, as the engine sent them. */
export function cancelRequest(key: Uint8Array): Buffer {
  return message("", int32(CANCEL_REQUEST), key);
}

export async function readHeader(wire: Wire): Promise<Header> {
  const bytes = await wire.read(1 + LENGTH_BYTES);
  return { type: String.fromCharCode(bytes.readUInt8()), length: bytes.readInt32BE(1) - LENGTH_BYTES };
}

/** The body of a message; of a body beyond the bound the beginning. */
export async function readBody(wire: Wire, { length }: Header): Promise<Buffer> {
  const body = Buffer.from(await wire.read(Math.min(length, MESSAGE_BYTES)));
  await wire.skip(length - body.length);
  return body;
}

/** The fields of an error or a notice by their letter. */
function fieldsOf(body: Buffer): Map<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < body.length && body[at] !== 0;) {
    const zero = body.indexOf(0, at + 1);
    const end = zero === -1 ? body.length : zero;
    fields.set(String.fromCharCode(body[at] ?? 0), textOf(body.subarray(at + 1, end)));
    at = end + 1;
  }
  return fields;
}

export function noticeOf(body: Buffer): Notice {
  const fields = fieldsOf(body);
  return {
    severity: fields.get("V") ?? fields.get("S") ?? "NOTICE",
    code: fields.get("C") ?? "00000",
    message: fields.get("M") ?? "",
  };
}

export function refusalOf(body: Buffer): StatementRefused {
  const fields = fieldsOf(body);
  const position = Number(fields.get("P"));
  const fault: EngineFault = {
    code: fields.get("C") ?? "XX000",
    position: position > 0 ? position : null,
    detail: fields.get("D") ?? null,
    hint: fields.get("H") ?? null,
  };
  return new StatementRefused(fields.get("M") ?? "The engine gives no reason.", fault);
}
