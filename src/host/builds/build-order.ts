// The order of a build as it comes over the host's socket: a line with the spec, then the source as a tar.
import { open, type FileHandle } from "node:fs/promises";
import { buildSpecSchema, MAX_SPEC_CHARACTERS, type BuildSpec } from "../../contracts/builds.ts";
import { readJsonAs } from "../../contracts/read.ts";
import { codeOf, PublicError } from "../../lib/errors.ts";

/** An order whose source is still to be read. */
export interface BuildOrder {
  spec: BuildSpec;
  source: AsyncIterable<Uint8Array>;
}

const NEWLINE = 10;

/** Reads the spec. @throws PublicError when there is none, ContractError when it is malformed. */
export async function readOrder(body: ReadableStream<Uint8Array> | null): Promise<BuildOrder> {
  if (body === null) throw new PublicError("The order of a build has no body.");
  const chunks = body[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (;;) {
    const { value, done } = await chunks.next();
    if (done === true) throw new PublicError("The order of a build has no spec.");
    head = Buffer.concat([head, value]);
    const end = head.indexOf(NEWLINE);
    if (end >= 0) {
      const spec = readJsonAs(buildSpecSchema, head.toString("utf8", 0, end), "The spec of the build");
      return { spec, source: rest(head.subarray(end + 1), chunks) };
    }
    if (head.length > MAX_SPEC_CHARACTERS) throw new PublicError("The spec of the build is too long.");
  }
}

async function* rest(
  first: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  if (first.length > 0) yield first;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
}

/** Writes the source to a file. @throws PublicError when it is larger than the build may be, or the disk is full. */
export async function keepSource({ spec, source }: BuildOrder, path: string): Promise<void> {
  let bytes = 0;
  const file = await open(path, "w", 0o600);
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > spec.diskBytes)
        throw new PublicError(
          `The source is larger than the ${spec.diskBytes} bytes that its build may take.`,
        );
      await writeAll(file, chunk);
    }
    await file.sync();
  } catch (error) {
    if (codeOf(error) === "ENOSPC") throw new PublicError("The disk of the host is full.", error);
    throw error;
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
}
