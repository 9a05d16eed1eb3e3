// Makes key pairs for fetches over SSH, in the forms of OpenSSH.
import { generateKeyPairSync, randomBytes } from "node:crypto";

const TYPE = "ed25519";
const NAME = `ssh-${TYPE}`;

/** OpenSSH pads the private part to blocks of this size. */
const BLOCK_BYTES = 8;
const LINE_LENGTH = 70;

/** An Ed25519 key pair. */
interface KeyPair {
  /** A line for the list of keys of a git host. */
  publicKey: string;
  /** The file that ssh reads, without a passphrase. */
  privateKey: string;
}

/** @param comment the end of the public line, by which people recognize the key. */
export function newKeyPair(comment: string): KeyPair {
  const { d = "", x = "" } = generateKeyPairSync(TYPE).privateKey.export({ format: "jwk" });
  const [seed, point] = [Buffer.from(d, "base64url"), Buffer.from(x, "base64url")];
  const publicPart = Buffer.concat([text(NAME), text(point)]);
  return {
    publicKey: `${NAME} ${publicPart.toString("base64")} ${comment}`,
    privateKey: privateFile(publicPart, Buffer.concat([seed, point]), comment),
  };
}

/** The format is that of PROTOCOL.key in the source of OpenSSH; its older clients read no other for this type. */
function privateFile(publicPart: Buffer, secret: Buffer, comment: string): string {
  // A reader compares the two numbers, to know that it has decrypted the rest.
  const check = randomBytes(4);
  const part = Buffer.concat([check, check, publicPart, text(secret), text(comment)]);
  const missing = (BLOCK_BYTES - (part.length % BLOCK_BYTES)) % BLOCK_BYTES;
  const padding = Buffer.from(Array.from({ length: missing }, (_, at) => at + 1));
  const file = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    text("none"),
    text("none"),
    text(""),
    number(1),
    text(publicPart),
    text(Buffer.concat([part, padding])),
  ]);
  const lines = file.toString("base64").match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [];
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join("\n")}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
