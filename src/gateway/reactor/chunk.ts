// The memory for all reads. One chunk serves all sockets, since each reader passes its bytes on or copies them at once.
import { addressOf } from "./libc.ts";

export const CHUNK_BYTES = 128 * 1024;
export const chunk = new Uint8Array(CHUNK_BYTES);
export const chunkAddress: number = addressOf(chunk);
