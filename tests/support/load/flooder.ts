// A program that floods a port of 127.0.0.1: it holds as many connections as it is told, says the same on each, reads nothing, and
// slowly opens others for those that are closed. It prints a line when it has tried all for the first time, and how many it holds when it is told to end.
import { dlopen, FFIType, ptr } from "bun:ffi";

/** What it is told, as JSON in its first argument. */
export interface FloodOrder {
  port: number;
  count: number;
  /** The last bytes of the addresses 127.0.0.x that it comes from, since one has no more than some 28,000 ports. */
  hosts: number[];
  /** What it says on each connection, in base64. */
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
/** Connections that are opened before the others are looked at. */
const BATCH = 256;
const PAUSE_MS = 20;
/** Connections that it opens anew in such a pause: what it is about is to hold them. */
const REOPENED = 4;

const order = JSON.parse(process.argv[2] ?? "") as FloodOrder;
const words = Buffer.from(order.words, "base64");
/** Resets what is closed, so that no port stays taken. */
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

/** @returns whether there was a descriptor for it. */
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

/** Speaks on what is connected now, and forgets what was closed. */
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
