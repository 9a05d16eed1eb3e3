// Hands open descriptors to another process over a unix socket of whole messages (unix(7), SCM_RIGHTS), without
// waiting.
import {
  AF_UNIX,
  EAGAIN,
  EINTR,
  errno,
  ETOOMANYREFS,
  memoryOf,
  MSG_CMSG_CLOEXEC,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  SCM_RIGHTS,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_SEQPACKET,
  sockets,
  SOL_SOCKET,
} from "./socket-calls.ts";
import { unixName } from "./socket-names.ts";

/** The kernel takes up to 253 in a message. */
export const MAX_DESCRIPTORS = 128;
const MAX_TEXT_BYTES = 32 * 1024;
const BACKLOG = 16;
const FLAGS = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;

/** struct cmsghdr: a length of 8 bytes, level and type of 4 each; then the descriptors. */
const CONTROL_HEADER_BYTES = 16;
const DESCRIPTOR_BYTES = 4;

/** A text and the descriptors that arrive with it. */
export interface Delivery {
  text: string;
  descriptors: number[];
}

/**
 * Listens at a unix socket where other processes connect to receive descriptors.
 * @throws Error when it cannot be made.
 */
export function listenForPassing(path: string): number {
  const fd = newSocket();
  const name = unixName(path);
  if (sockets.bind(fd, memoryOf(name), name.length) === 0 && sockets.listen(fd, BACKLOG) === 0) return fd;
  const reason = errno();
  sockets.close(fd);
  throw new Error(`the socket ${path} cannot be listened at (${reason})`);
}

/** The next connection, or null. */
export function acceptForPassing(listener: number): number | null {
  const fd = sockets.accept4(listener, null, null, SOCK_NONBLOCK | SOCK_CLOEXEC);
  return fd < 0 ? null : fd;
}

/** Connects to such a socket; null when nobody listens there, or too many connections wait. */
export function connectForPassing(path: string): number | null {
  const fd = newSocket();
  const name = unixName(path);
  if (sockets.connect(fd, memoryOf(name), name.length) === 0) return fd;
  sockets.close(fd);
  return null;
}

/** Two sockets that are connected with each other; programs that this process starts inherit neither. */
export function pairForPassing(): [number, number] {
  const pair = new Int32Array(2);
  if (sockets.socketpair(AF_UNIX, FLAGS, 0, memoryOf(pair)) !== 0) {
    throw new Error(`a pair of sockets could not be made (${errno()})`);
  }
  return [pair[0] ?? -1, pair[1] ?? -1];
}

/**
 * Sends a text, which must not be empty, with at most `MAX_DESCRIPTORS` descriptors, which stay open here.
 * @returns `full` when it must be tried again, `broken` when the other side has gone.
 */
export function passDescriptors(fd: number, { text, descriptors }: Delivery): "sent" | "full" | "broken" {
  const bytes = new TextEncoder().encode(text);
  const length = CONTROL_HEADER_BYTES + descriptors.length * DESCRIPTOR_BYTES;
  const control = new DataView(new ArrayBuffer(Math.ceil(length / 8) * 8));
  control.setBigUint64(0, BigInt(length), true);
  control.setInt32(8, SOL_SOCKET, true);
  control.setInt32(12, SCM_RIGHTS, true);
  for (const [index, each] of descriptors.entries()) {
    control.setInt32(CONTROL_HEADER_BYTES + index * DESCRIPTOR_BYTES, each, true);
  }
  const message = new Message(bytes, descriptors.length === 0 ? null : control);
  for (;;) {
    if (sockets.sendmsg(fd, message.address, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return "sent";
    const reason = errno();
    // All sockets of the user together may also have too many descriptors under way.
    if (reason !== EINTR) return reason === EAGAIN || reason === ETOOMANYREFS ? "full" : "broken";
  }
}

/** Takes the next message; its descriptors are the caller's from then on, to close as well. */
export function takeDescriptors(fd: number): Delivery | "nothing" | "ended" {
  const bytes = new Uint8Array(MAX_TEXT_BYTES);
  const control = new DataView(new ArrayBuffer(CONTROL_HEADER_BYTES + MAX_DESCRIPTORS * DESCRIPTOR_BYTES));
  const message = new Message(bytes, control);
  for (;;) {
    const count = Number(sockets.recvmsg(fd, message.address, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
    if (count > 0) {
      const text = new TextDecoder().decode(bytes.subarray(0, count));
      return { text, descriptors: descriptorsIn(control, message.controlLength) };
    }
    if (count === 0) return "ended";
    const reason = errno();
    if (reason !== EINTR) return reason === EAGAIN ? "nothing" : "ended";
  }
}

function descriptorsIn(control: DataView, controlLength: number): number[] {
  if (controlLength < CONTROL_HEADER_BYTES) return [];
  const isRights = control.getInt32(8, true) === SOL_SOCKET && control.getInt32(12, true) === SCM_RIGHTS;
  if (!isRights) return [];
  const count = Math.floor((Number(control.getBigUint64(0, true)) - CONTROL_HEADER_BYTES) / DESCRIPTOR_BYTES);
  return Array.from({ length: count }, (_, index) =>
    control.getInt32(CONTROL_HEADER_BYTES + index * DESCRIPTOR_BYTES, true),
  );
}

/** `struct msghdr` with one part, as both system calls take it. */
class Message {
  readonly #header = new BigUint64Array(7);
  /** The memory that the header points to, which must live as long as the header. */
  readonly #parts: unknown[];

  constructor(bytes: Uint8Array, control: DataView | null) {
    const part = new BigUint64Array([BigInt(memoryOf(bytes)), BigInt(bytes.length)]);
    this.#parts = [bytes, control, part];
    this.#header[2] = BigInt(memoryOf(part));
    this.#header[3] = 1n;
    if (control === null) return;
    this.#header[4] = BigInt(memoryOf(control));
    this.#header[5] = BigInt(control.byteLength);
  }

  get address() {
    return memoryOf(this.#header);
  }

  /** How much of the control memory the kernel has filled. */
  get controlLength(): number {
    return this.#parts.length === 0 ? 0 : Number(this.#header[5]);
  }
}

function newSocket(): number {
  const fd = sockets.socket(AF_UNIX, FLAGS, 0);
  if (fd < 0) throw new Error(`a socket could not be made (${errno()})`);
  return fd;
}
