// Reads a tar archive from a customer: ustar with the extensions of POSIX (pax) and GNU for long names.
import type { ByteReader } from "./byte-reader.ts";
import { SourceRefusal, shown } from "./faults.ts";

const BLOCK = 512;

/** Bytes of the extended header of an entry; real headers hold a path or two. */
const MAX_EXTENSION = 64 << 10;

/** Extended headers before one entry: one of each kind. No bound of entries counts them. */
const MAX_EXTENSIONS = 4;

/** An entry of an archive. Its content is to be read before the next entry. */
export interface TarEntry {
  /** As the archive has it, without any check. */
  path: string;
  type: "file" | "folder" | "link" | "hard link";
  isExecutable: boolean;
  /** The target of a link. */
  target: string;
  bytes: number;
  content(): AsyncGenerator<Buffer>;
}

/** What the headers before an entry say about it. */
interface Extension {
  path?: string;
  linkpath?: string;
  size?: string;
}

interface Header {
  path: string;
  target: string;
  mode: number;
  bytes: number;
  type: string;
}

/**
 * All entries of an archive.
 * @throws SourceRefusal when it is malformed, cut off, or has a device or the like.
 */
export async function* tarEntries(reader: ByteReader): AsyncGenerator<TarEntry> {
  let [extension, extensions]: [Extension, number] = [{}, 0];
  for (;;) {
    const block = await reader.read(BLOCK);
    if (block.length < BLOCK) throw cutOff();
    if (block.every((byte) => byte === 0)) return;
    const header = headerOf(block);
    if ("xgLK".includes(header.type)) {
      extensions += 1;
      if (extensions > MAX_EXTENSIONS)
        throw new SourceRefusal("The archive is damaged: it has too many headers before an entry.");
      Object.assign(extension, await extensionOf(reader, header));
      continue;
    }
    const path = extension.path ?? header.path;
    const type = typeOf(header.type, path);
    const isFile = type === "file";
    const bytes = isFile ? sizeOf(extension.size, header.bytes) : 0;
    const body = new Body(reader, isFile ? bytes : header.bytes);
    yield {
      path,
      type,
      isExecutable: (header.mode & 0o100) !== 0,
      target: extension.linkpath ?? header.target,
      bytes,
      content: () => body.pieces(),
    };
    await body.skip();
    [extension, extensions] = [{}, 0];
  }
}

/** The content of an entry with what fills up its last block. */
class Body {
  readonly #reader: ByteReader;
  readonly #bytes: number;
  #isRead = false;

  constructor(reader: ByteReader, bytes: number) {
    this.#reader = reader;
    this.#bytes = bytes;
  }

  async *pieces(): AsyncGenerator<Buffer> {
    this.#isRead = true;
    let missing = this.#bytes;
    for await (const piece of this.#reader.pieces(this.#bytes)) {
      missing -= piece.length;
      yield piece;
    }
    const padding = (BLOCK - (this.#bytes % BLOCK)) % BLOCK;
    if (missing > 0 || (await this.#reader.read(padding)).length < padding) throw cutOff();
  }

  async skip(): Promise<void> {
    if (this.#isRead) return;
    for await (const _ of this.pieces()) continue;
  }
}

function headerOf(block: Buffer): Header {
  if (numberAt(block, 148, 8) !== checksumOf(block)) throw new SourceRefusal("The upload is no tar archive.");
  const name = textAt(block, 0, 100);
  // GNU's own format has times in the place of the prefix.
  const prefix = block.toString("latin1", 257, 263) === "ustar\0" ? textAt(block, 345, 155) : "";
  return {
    path: prefix === "" ? name : `${prefix}/${name}`,
    target: textAt(block, 157, 100),
    mode: checkedNumber(numberAt(block, 100, 8)),
    bytes: checkedNumber(numberAt(block, 124, 12)),
    type: String.fromCharCode(block[156] ?? 0),
  };
}

/** The sum of all bytes, in which spaces stand in the place of the sum itself. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < BLOCK; at += 1) {
    if (at < 148 || at >= 156) sum += block[at] ?? 0;
  }
  return sum;
}

/** An octal number, or, with the highest bit of the first byte, a binary number; NaN for anything else. */
function numberAt(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length);
  if (((field[0] ?? 0) & 0x80) !== 0) {
    const value = field.reduce((total, byte, index) => total * 256 + (index === 0 ? byte & 0x7f : byte), 0);
    return value;
  }
  const text = field.toString("latin1").replaceAll("\0", " ").trim();
  return text === "" ? 0 : /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

function checkedNumber(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new SourceRefusal("The archive has a malformed header.");
}

function textAt(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return decoded(end < 0 ? field : field.subarray(0, end));
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const name = shown(new TextDecoder().decode(bytes));
    throw new SourceRefusal(`The archive has a name that is no UTF-8: ${name}.`, error);
  }
}

async function extensionOf(reader: ByteReader, { type, bytes }: Header): Promise<Extension> {
  if (bytes > MAX_EXTENSION) throw new SourceRefusal("The archive has a name that is too long.");
  const parts: Buffer[] = [];
  for await (const piece of new Body(reader, bytes).pieces()) parts.push(Buffer.from(piece));
  const content = Buffer.concat(parts);
  if (type === "g") return {};
  if (type === "x") return paxRecords(content);
  const end = content.indexOf(0);
  const text = decoded(end < 0 ? content : content.subarray(0, end));
  return type === "L" ? { path: text } : { linkpath: text };
}

/** Records of the form `LENGTH NAME=VALUE\n`, where the length is that of the whole record in bytes. */
function paxRecords(content: Buffer): Extension {
  const found: Extension = {};
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.toString("latin1", at, space < 0 ? at : space));
    const end = at + length;
    const equals = content.indexOf(0x3d, space);
    if (!Number.isInteger(length) || space < 0 || equals < 0 || equals >= end || end > content.length) {
      throw new SourceRefusal("The archive has a malformed header.");
    }
    const name = content.toString("latin1", space + 1, equals);
    if (name === "path" || name === "linkpath" || name === "size") {
      found[name] = decoded(content.subarray(equals + 1, end - 1));
    }
    if (name.startsWith("GNU.sparse"))
      throw new SourceRefusal("The archive has a sparse file; pack it with plain files.");
    at = end;
  }
  return found;
}

function sizeOf(extended: string | undefined, bytes: number): number {
  if (extended === undefined) return bytes;
  return checkedNumber(/^\d{1,16}$/.test(extended) ? Number(extended) : Number.NaN);
}

const TYPES: Record<string, TarEntry["type"]> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "hard link",
  "2": "link",
  "5": "folder",
};

const REFUSED: Record<string, string> = {
  "3": "a device",
  "4": "a device",
  "6": "a pipe",
  S: "a sparse file",
};

function typeOf(type: string, path: string): TarEntry["type"] {
  const found = TYPES[type];
  // Before there were types, a slash at the end meant a folder.
  if (found === "file" && path.endsWith("/")) return "folder";
  if (found !== undefined) return found;
  throw new SourceRefusal(
    `${shown(path)} is ${REFUSED[type] ?? "neither a file, a folder nor a link"}; only files, folders and links can be deployed.`,
  );
}

function cutOff(): SourceRefusal {
  return new SourceRefusal("The archive is cut off.");
}
