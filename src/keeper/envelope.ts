// The form of an object at a target: compressed, encrypted, and bound to its name.
import { createCipheriv, webcrypto } from "node:crypto";
import * as z from "zod/mini";
import { readJsonAs } from "../contracts/read.ts";
import { sha256Hex } from "../lib/secrets.ts";
import { DamagedObject, WrongKey } from "./object-store.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The most plaintext of one object; the largest objects are parts of backups and segments of logs. */
export const MAX_PLAIN_BYTES = 1024 ** 3 + 1024 ** 2;

/** The most bytes that an envelope takes beside its plaintext. */
export const MAX_ENVELOPE_BYTES = 4_096;

const MAGIC = Buffer.from("PLV1");
const [LENGTH_BYTES, NONCE_BYTES, TAG_BYTES] = [4, 12, 16];
const MAX_HEADER_BYTES = 2_048;
/** The compression that log-shipping tools take; higher levels cost several times as much for a few percent. */
const ZSTD_LEVEL = 3;
/** Takes two thirds of the time, and some percent more bytes. */
const BRIEF_ZSTD_LEVEL = 1;

/** So few bytes are sealed sooner than another thread begins: a log is shipped by some small objects each second. */
const SMALL_BYTES = 131_072;

const headerSchema = z.strictObject({
  /** The full name of the object, so that no object passes for another. */
  name: z.string(),
  plainBytes: z.int().check(z.nonnegative(), z.maximum(MAX_PLAIN_BYTES)),
  /** Of the plaintext, in hexadecimal. */
  sha256: z.string(),
  keyId: z.string(),
  compression: z.enum(["zstd", "none"]),
});

type Header = z.infer<typeof headerSchema>;

/** Makes and opens envelopes with one key. */
export class Sealer {
  readonly keyId: string;
  readonly #key: Promise<webcrypto.CryptoKey>;
  readonly #keyBytes: Bytes;

  /** @param key 32 bytes. */
  constructor(key: Bytes) {
    this.keyId = sha256Hex(key).slice(0, 8);
    this.#keyBytes = key;
    this.#key = webcrypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);
  }

  /** @param isBrief see `ObjectStore.put`. */
  async seal(name: string, plain: Uint8Array, isBrief = false): Promise<Bytes> {
    if (plain.length > MAX_PLAIN_BYTES) throw new Error(`the object ${name} is too large`);
    const level = isBrief ? BRIEF_ZSTD_LEVEL : ZSTD_LEVEL;
    const isSmall = plain.length <= SMALL_BYTES;
    const compressed = isSmall
      ? Bun.zstdCompressSync(plain, { level })
      : await Bun.zstdCompress(plain, { level });
    const isSmaller = compressed.length < plain.length;
    const header: Header = {
      name,
      plainBytes: plain.length,
      // Another thread would have to copy the bytes, which takes as long as this.
      sha256: sha256Hex(plain),
      keyId: this.keyId,
      compression: isSmaller ? "zstd" : "none",
    };
    const front = frontOf(header);
    const nonce = webcrypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const content = isSmaller ? compressed : plain;
    const sealed = isSmall
      ? this.#encryptNow(front, nonce, content)
      : [new Uint8Array(await this.#encrypt(front, nonce, content))];
    return new Uint8Array(Buffer.concat([front, nonce, ...sealed]));
  }

  #encryptNow(front: Bytes, nonce: Bytes, content: Uint8Array): Uint8Array[] {
    const cipher = createCipheriv("aes-256-gcm", this.#keyBytes, nonce);
    cipher.setAAD(front);
    return [cipher.update(content), cipher.final(), cipher.getAuthTag()];
  }

  async #encrypt(front: Bytes, iv: Bytes, content: Uint8Array): Promise<ArrayBuffer> {
    const algorithm = { name: "AES-GCM", iv, additionalData: front };
    return await webcrypto.subtle.encrypt(algorithm, await this.#key, new Uint8Array(content));
  }

  /**
   * The plaintext of an object.
   * @throws DamagedObject, WrongKey.
   */
  async open(name: string, envelope: Uint8Array): Promise<Uint8Array> {
    const { header, front, rest } = split(name, envelope);
    if (header.name !== name) throw new DamagedObject(name, "another object is in its place");
    if (header.keyId !== this.keyId) throw new WrongKey(name);
    const content = await this.#decrypt(name, front, rest);
    const plain = header.compression === "zstd" ? await decompressed(name, content) : content;
    if (plain.length !== header.plainBytes) throw new DamagedObject(name, "its length is wrong");
    if (sha256Hex(plain) !== header.sha256) throw new DamagedObject(name, "its content is wrong");
    return plain;
  }

  async #decrypt(name: string, front: Bytes, rest: Bytes): Promise<Bytes> {
    const algorithm = { name: "AES-GCM", iv: rest.subarray(0, NONCE_BYTES), additionalData: front };
    try {
      return new Uint8Array(
        await webcrypto.subtle.decrypt(algorithm, await this.#key, rest.subarray(NONCE_BYTES)),
      );
    } catch {
      throw new DamagedObject(name, "it was changed");
    }
  }
}

/** All before the nonce, which is authenticated and in clear. */
function frontOf(header: Header): Bytes {
  const text = Buffer.from(JSON.stringify(header));
  if (text.length > MAX_HEADER_BYTES) throw new Error(`the name of the object ${header.name} is too long`);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return new Uint8Array(Buffer.concat([MAGIC, length, text]));
}

function split(name: string, envelope: Uint8Array): { header: Header; front: Bytes; rest: Bytes } {
  const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.byteLength);
  const start = MAGIC.length + LENGTH_BYTES;
  if (bytes.length < start || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new DamagedObject(name, "it is no object of Pilvi");
  const end = start + bytes.readUInt32BE(MAGIC.length);
  if (end > start + MAX_HEADER_BYTES || bytes.length < end + NONCE_BYTES + TAG_BYTES)
    throw new DamagedObject(name, "its end is missing");
  return {
    header: readHeader(name, bytes.subarray(start, end)),
    front: new Uint8Array(bytes.subarray(0, end)),
    rest: new Uint8Array(bytes.subarray(end)),
  };
}

function readHeader(name: string, bytes: Buffer): Header {
  try {
    return readJsonAs(headerSchema, bytes.toString("utf8"), "The header");
  } catch {
    throw new DamagedObject(name, "its header cannot be read");
  }
}

async function decompressed(name: string, content: Bytes): Promise<Uint8Array> {
  try {
    const { buffer, byteOffset, byteLength } = await Bun.zstdDecompress(content);
    return new Uint8Array(buffer, byteOffset, byteLength);
  } catch {
    throw new DamagedObject(name, "it cannot be decompressed");
  }
}
