// A client of a cache that sends much and reads nothing.
import type { Socket } from "bun";

const CHUNK_BYTES = 1024 ** 2;

export interface FloodOptions {
  port: number;
  /** Sent first, and answered before the flood begins. */
  login: string;
  beginning: string;
  repeated: string;
  bytes: number;
}

/** Floods until everything is sent or the other side closes. @returns the function that closes the connection. */
export async function flood({ port, login, beginning, repeated, bytes }: FloodOptions): Promise<() => void> {
  const over = Promise.withResolvers<void>();
  const loggedIn = Promise.withResolvers<void>();
  const chunk = Buffer.from(repeated.repeat(Math.ceil(Math.min(CHUNK_BYTES, bytes) / repeated.length)));
  let unsent = Buffer.from(beginning);
  let left = bytes;
  const write = (socket: Socket) => {
    for (;;) {
      if (unsent.length === 0) {
        if (left <= 0) return over.resolve();
        left -= chunk.length;
        unsent = chunk;
      }
      const sent = socket.write(unsent);
      if (sent < 0) return over.resolve();
      unsent = unsent.subarray(sent);
      if (unsent.length > 0) return;
    }
  };
  const end = () => {
    loggedIn.resolve();
    over.resolve();
  };
  const handlers = { data: () => loggedIn.resolve(), drain: write, close: end, end, error: end };
  const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: handlers });
  socket.write(login);
  await loggedIn.promise;
  socket.pause();
  write(socket);
  await over.promise;
  return () => socket.terminate();
}
