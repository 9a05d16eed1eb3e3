// The memory that everything is read into. There is one for all, since whoever reads passes it on or copies it before anyone else does.
import { addressOf } from "./libc.ts";

export const CHUNK_BYTES = 128 * 1024;
export const chunk = new Uint8Array(CHUNK_BYTES);
export const chunkAddress: number = addressOf(chunk);
