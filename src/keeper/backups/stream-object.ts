// The object `stream.json` of a backup: the parts of its stream, written when all of them are stored.
import * as z from "zod/mini";
import { storedStreamSchema, type StoredStream } from "../../contracts/keeper.ts";
import { readJsonAs } from "../../contracts/read.ts";
import { DamagedObject, type ObjectStore } from "../object-store.ts";
import { streamObject } from "../names.ts";

const schema = z.strictObject({
  ...storedStreamSchema.shape,
  /** The bytes of each part as it is stored. */
  parts: z.array(z.int()),
});

/** A stream that is stored as a whole, with its parts. */
interface StreamParts extends StoredStream {
  parts: number[];
}

export function encodeStream(stream: StreamParts): Uint8Array {
  return encodeJson(stream);
}

/** @throws MissingObject while the stream is not stored as a whole; DamagedObject. */
export async function readStream(store: ObjectStore, archive: string, backup: string): Promise<StreamParts> {
  return await readJsonObject(store, streamObject(archive, backup), schema);
}

export function encodeJson(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** An object with JSON of this shape. @throws MissingObject, DamagedObject. */
export async function readJsonObject<T>(
  store: ObjectStore,
  name: string,
  shape: z.core.$ZodType<T>,
): Promise<T> {
  const text = new TextDecoder().decode(await store.get(name));
  try {
    return readJsonAs(shape, text, "The object");
  } catch {
    throw new DamagedObject(name, "it is of an unknown form");
  }
}
