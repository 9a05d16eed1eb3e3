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
  /** Whether it takes only processor time that no other program wants. */
  isModest?: boolean;
}

const { i32, u32, u64_fast: size, ptr: pointer } = FFIType;
const { symbols: libc } = dlopen("libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, pointer, u32], returns: i32 },
  connect: { args: [i32, pointer, u32], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 },
  send: { args: [i32, pointer, size, i32], returns: i32 },
  epoll_create1: { args: [i32], returns: i32 },
  epoll_ctl: { args: [i32, i32, i32, pointer], returns: i32 },
  epoll_wait: { args: [i32, pointer, i32, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
  sched_setscheduler: { args: [i32, i32, pointer], returns: i32 },
});
const [AF_INET, STREAM_NONBLOCK, SOL_SOCKET, SO_LINGER] = [2, 1 | 0o4000, 1, 13];
const [EPOLLOUT, EPOLLERR_HUP, EPOLLRDHUP, EPOLLET] = [4, 8 | 16, 0x2000, 0x8000_0000];
const EPOLL_CTL_ADD = 1;
/** The size of struct epoll_event, and the place of its descriptor: the struct is packed on x86-64 alone. */
const [EVENT_BYTES, PLACE_OF_FD] = process.arch === "x64" ? [12, 4] : [16, 8];
const SCHED_IDLE = 5;
const MSG_NOSIGNAL = 0x4000;
/** Connections that it opens before it looks at the others, and events that it takes at a time. */
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
/** A poll of all connections would keep the kernel from other programs for a millisecond. */
const watch = libc.epoll_create1(0);
const event = new DataView(new ArrayBuffer(EVENT_BYTES));
const events = new DataView(new ArrayBuffer(EVENT_BYTES * BATCH));
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
  event.setUint32(0, EPOLLOUT | EPOLLRDHUP | EPOLLET, true);
  event.setInt32(PLACE_OF_FD, fd, true);
  libc.epoll_ctl(watch, EPOLL_CTL_ADD, fd, ptr(event));
  open.add(fd);
  silent.add(fd);
  return true;
}

/** Sends on the connections that are open now, and drops the closed ones. */
function look(): void {
  for (let count = BATCH; count === BATCH;) {
    count = libc.epoll_wait(watch, ptr(events), BATCH, 0);
    for (let at = 0; at < count * EVENT_BYTES; at += EVENT_BYTES) {
      take(events.getUint32(at, true), events.getInt32(at + PLACE_OF_FD, true));
    }
  }
}

function take(state: number, fd: number): void {
  if ((state & (EPOLLERR_HUP | EPOLLRDHUP)) !== 0) {
    open.delete(fd);
    silent.delete(fd);
    libc.close(fd);
  } else if ((state & EPOLLOUT) !== 0 && silent.delete(fd) && words.length > 0) {
    libc.send(fd, ptr(words), words.length, MSG_NOSIGNAL);
  }
}

process.on("SIGTERM", () => {
  process.stdout.write(JSON.stringify({ held: open.size - silent.size, opened }));
  process.exit(0);
});

if (order.isModest === true && libc.sched_setscheduler(0, SCHED_IDLE, ptr(new Int32Array([0]))) !== 0)
  throw new Error("the kernel does not take the flood's policy");

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
