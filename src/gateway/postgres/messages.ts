// Messages of the Postgres protocol 3, written and parsed (PostgreSQL documentation, "Message Formats").

/** Bytes of a message's type and length. */
export const HEADER_BYTES = 5;

/** The kinds of an AuthenticationRequest. */
export const AUTHENTICATION = { ok: 0, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;

/** The codes that a first packet has in place of a version. */
export const REQUEST = { cancel: 80_877_102, tls: 80_877_103, gss: 80_877_104 } as const;

/** The fields of an ErrorResponse that matter. */
export interface ErrorFields {
  /** SQLSTATE. */
  code: string;
  message: string;
  detail?: string | undefined;
  /** The place in the source of Postgres, from which some programs recognize the error. */
  origin?: { file: string; routine: string } | undefined;
}

/** A message with its type, such as `R`. */
export function message(type: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.write(type, "latin1");
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

/** A message of the first exchange, which has a length but no type. */
function untyped(...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([int32(body.length + 4), body]);
}

/** A 32-bit integer in network byte order. */
export function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value | 0);
  return bytes;
}

/** @param text each character is one byte, so that texts in any encoding are passed on unchanged. */
function bytesText(text: string): Buffer {
  return Buffer.from(`${text}\0`, "latin1");
}

/** @param parameters names and values, each character one byte. */
export function startupMessage(parameters: readonly (readonly [string, string])[]): Buffer {
  const fields = parameters.flatMap(([name, value]) => [bytesText(name), bytesText(value)]);
  return untyped(int32(0x3_0000), ...fields, Buffer.of(0));
}

/** A CancelRequest for the query of another connection. */
export function cancelRequest(pid: number, key: Uint8Array): Buffer {
  return untyped(int32(REQUEST.cancel), int32(pid), key);
}

/** An AuthenticationRequest. */
export function authentication(kind: number, data: Uint8Array | string = ""): Buffer {
  return message("R", int32(kind), typeof data === "string" ? Buffer.from(data, "latin1") : data);
}

/** Offers SASL mechanisms to a client. */
export function authenticationSasl(mechanisms: readonly string[]): Buffer {
  return authentication(AUTHENTICATION.sasl, `${mechanisms.join("\0")}\0\0`);
}

/** Selects a mechanism, with its first message. */
export function saslInitialResponse(mechanism: string, data: string): Buffer {
  return message("p", bytesText(mechanism), int32(data.length), Buffer.from(data, "latin1"));
}

/** A later message of the mechanism. */
export function saslResponse(data: string): Buffer {
  return message("p", Buffer.from(data, "latin1"));
}

/** Has a client use an older version of the protocol, without these options. */
export function negotiateProtocolVersion(version: number, options: readonly string[]): Buffer {
  return message("v", int32(version), int32(options.length), ...options.map(bytesText));
}

/** The key with which a client can cancel its queries. */
export function backendKeyData(pid: number, key: Uint8Array): Buffer {
  return message("K", int32(pid), key);
}

/** An error after which the connection ends. */
export function fatalError({ code, message: text, detail, origin }: ErrorFields): Buffer {
  const fields = [`SFATAL`, `VFATAL`, `C${code}`, `M${text}`];
  if (detail !== undefined) fields.push(`D${detail}`);
  if (origin !== undefined) fields.push(`F${origin.file}`, `R${origin.routine}`);
  return message("E", Buffer.from(`${fields.join("\0")}\0\0`));
}

/** The SQLSTATE and text of an ErrorResponse, given its body; a missing field is empty. */
export function readErrorFields(body: Buffer): ErrorFields {
  const fields = body.toString().split("\0");
  const valueOf = (type: string) => fields.find((field) => field.startsWith(type))?.slice(1) ?? "";
  return { code: valueOf("C"), message: valueOf("M") };
}
