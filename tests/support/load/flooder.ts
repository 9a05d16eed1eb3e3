// A program that floods a port of 127.0.0.1: it holds a number of connections, sends the same bytes on each, reads
// nothing, and slowly replaces closed connections. It prints a line when it has tried all for the first time, and the
// number it holds when it is stopped.
import { dlopen, FFIType, ptr } from "bun:ffi";

/** Its options, as JSON in its first argument. */
export interface FloodOrder {
  port: number;
  count: number;
  /** The last bytes of its source addresses 127.0.0.x, since an address has no more than some 28,000 ports. */
  hosts: number[];
  /** The bytes that it sends on each connection, in base64. */
  words: string;
}

const { i32, u32, u64_fast: size, ptr: pointer } = FFIType;
const { symbols: libc } = dlopen("libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, pointer, u32], returns: i32 },
  connect: { args: [i32, pointer, u32], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 },
  send: { args: [i32, pointer, size, i32], returns: i32 },
  poll: { args: [pointer, size, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
});
const [AF_INET, STREAM_NONBLOCK, SOL_SOCKET, SO_LINGER] = [2, 1 | 0o4000, 1, 13];
const [POLLOUT, POLLERR_HUP, POLLRDHUP] = [4, 8 | 16, 0x2000];
const MSG_NOSIGNAL = 0x4000;
/** Connections that it opens before it polls the others. */
const BATCH = 256;
const PAUSE_MS = 20;
/** Connections that it opens anew in such a pause: its purpose is to hold them. */
const REOPENED = 4;

const order = JSON.parse(process.argv[2] ?? "") as FloodOrder;
const words = Buffer.from(order.words, "base64");
/** Resets closed connections, so that no port stays taken. */
const noLinger = new Int32Array([1, 0]);
const target = addressOf(1, order.port);
const open = new Set<number>();
const silent = new Set<number>();
let opened = 0;

function addressOf(host: number, port: number): Uint8Array {
  const address = new DataView(new ArrayBuffer(16));
  address.setUint16(0, AF_INET, true);
  address.setUint16(2, port);
  address.setUint32(4, 0x7f000000 + host);
  return new Uint8Array(address.buffer);
}

/** @returns whether a descriptor was free for it. */
function openAnother(): boolean {
  const fd = libc.socket(AF_INET, STREAM_NONBLOCK, 0);
  if (fd < 0) return false;
  libc.setsockopt(fd, SOL_SOCKET, SO_LINGER, ptr(noLinger), 8);
  const host = order.hosts[opened % order.hosts.length] ?? 2;
  opened += 1;
  libc.bind(fd, ptr(addressOf(host, 0)), 16);
  libc.connect(fd, ptr(target), 16);
  open.add(fd);
  silent.add(fd);
  return true;
}

/** Sends on the connections that are open now, and drops the closed ones. */
function look(): void {
  const fds = [...open];
  const entries = new Int32Array(fds.length * 2);
  for (const [index, fd] of fds.entries()) {
    entries[index * 2] = fd;
    entries[index * 2 + 1] = POLLRDHUP | (silent.has(fd) ? POLLOUT : 0);
  }
  if (fds.length === 0 || libc.poll(ptr(entries), fds.length, 0) <= 0) return;
  for (const [index, fd] of fds.entries()) {
    const events = (entries[index * 2 + 1] ?? 0) >>> 16;
    if ((events & (POLLERR_HUP | POLLRDHUP)) !== 0) {
      open.delete(fd);
      silent.delete(fd);
      libc.close(fd);
    } else if ((events & POLLOUT) !== 0) {
      silent.delete(fd);
      if (words.length > 0) libc.send(fd, ptr(words), words.length, MSG_NOSIGNAL);
    }
  }
}

process.on("SIGTERM", () => {
  process.stdout.write(JSON.stringify({ held: open.size - silent.size, opened }));
  process.exit(0);
});

for (let isFirst = true; ;) {
  const most = opened < order.count ? BATCH : REOPENED;
  for (let count = 0; count < most && open.size < order.count; count += 1) if (!openAnother()) break;
  look();
  if (isFirst && opened >= order.count) {
    process.stdout.write("\n");
    isFirst = false;
  }
  await Bun.sleep(opened < order.count ? 1 : PAUSE_MS);
}
