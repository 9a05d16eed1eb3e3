// Sockets outside of Bun, like the gateway's: non-blocking descriptors.
import { dlopen, FFIType, ptr } from "bun:ffi";

const { i32, u32, ptr: pointer } = FFIType;

const { symbols: libc } = dlopen("libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  socketpair: { args: [i32, i32, i32, pointer], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 },
  bind: { args: [i32, pointer, u32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
  accept4: { args: [i32, pointer, pointer, i32], returns: i32 },
  shutdown: { args: [i32, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
});

const [AF_UNIX, AF_INET, SOCK_STREAM, SOCK_NONBLOCK] = [1, 2, 1, 0o4000];
const [SOL_SOCKET, SO_SNDBUF, SHUT_WR] = [1, 7, 1];
const PATIENCE_MS = 60_000;

/** A listener on a free port of 127.0.0.1. */
export class RawListener {
  readonly #fd = libc.socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  readonly port: number;

  constructor() {
    const address = new DataView(new ArrayBuffer(16));
    address.setUint16(0, AF_INET, true);
    address.setUint32(4, 0x7f000001);
    const length = new Uint32Array([16]);
    const isListening =
      libc.bind(this.#fd, ptr(address), 16) === 0 &&
      libc.listen(this.#fd, 128) === 0 &&
      libc.getsockname(this.#fd, ptr(address), ptr(length)) === 0;
    if (!isListening) throw new Error("cannot listen on 127.0.0.1");
    this.port = address.getUint16(2);
  }

  /** The descriptor of the next connection, which the caller closes. */
  async accept(): Promise<number> {
    let fd = -1;
    await turnsUntil(() => {
      fd = libc.accept4(this.#fd, null, null, SOCK_NONBLOCK);
      return fd !== -1;
    });
    return fd;
  }

  close(): void {
    libc.close(this.#fd);
  }
}

/** Two connected sockets, which the caller closes. */
export function socketPair(): [number, number] {
  const pair = new Int32Array(2);
  if (libc.socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ptr(pair)) !== 0) {
    throw new Error("cannot make a pair of sockets");
  }
  return [pair[0] ?? -1, pair[1] ?? -1];
}

/** Limits the kernel's buffers. */
export function limitSending(fd: number, bytes: number): void {
  libc.setsockopt(fd, SOL_SOCKET, SO_SNDBUF, ptr(new Int32Array([bytes])), 4);
}

/** Ends the sending of this side. */
export function endSending(fd: number): void {
  libc.shutdown(fd, SHUT_WR);
}

export function closeSocket(fd: number): void {
  libc.close(fd);
}

/** Polls in every turn of the event loop, in which clients of the same process go on. */
export async function turnsUntil(holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > giveUpAt) throw new Error("timed out");
    await new Promise((resolve) => setImmediate(resolve));
  }
}
