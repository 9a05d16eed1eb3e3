// How often in a row the kernel has sent the same bytes again on a connection of this process, since the other side did
// not take them: clients see that as a delay of seconds alone.
import { readdirSync } from "node:fs";
import { IPPROTO_TCP, memoryOf, sockets } from "../../../src/lib/socket-calls.ts";

const TCP_INFO = 11;
/** The place of `tcpi_retransmits` in struct tcp_info: time-outs since the last answer. */
const RETRANSMITS = 2;
const EVERY_MS = 10;

const info = new Uint8Array(256);
const length = new Uint32Array(1);

/** Follows all TCP connections of the process by looks in short intervals, so that it may miss some and invents none. */
export class Retransmissions {
  #most = 0;

  constructor() {
    setInterval(() => this.#look(), EVERY_MS).unref();
  }

  /** The most on any connection so far. */
  get most(): number {
    return this.#most;
  }

  #look(): void {
    for (const fd of readdirSync("/proc/self/fd").map(Number)) {
      length[0] = info.byteLength;
      if (sockets.getsockopt(fd, IPPROTO_TCP, TCP_INFO, memoryOf(info), memoryOf(length)) !== 0) continue;
      this.#most = Math.max(this.#most, info[RETRANSMITS] ?? 0);
    }
  }
}
