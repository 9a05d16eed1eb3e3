// The gateway's loop: waits until descriptors can be read or written, and calls who watches them.
import { drainMicrotasks } from "bun:jsc";
import {
  addressOf,
  EINTR,
  EPOLL_CTL_ADD,
  EPOLL_CTL_DEL,
  EPOLL_CTL_MOD,
  errno,
  libc,
  SOCK_CLOEXEC,
} from "./libc.ts";
import { Timers } from "./timers.ts";

/** Who is called when a descriptor can be used. */
export interface Watcher {
  /** @param events a set of `EPOLL...` bits. */
  ready(events: number): void;
  /** Called when `ready` has thrown: whatever made it do so must not come back at once, or the loop would never rest. */
  failed(): void;
}

export interface ReactorOptions {
  /** The time by which its timers go, in milliseconds that never go back. */
  now?: () => number;
  /** Told of what was thrown where nobody catches it: a fault of the program's own, which ends no more than one connection. */
  onFault?: (error: unknown) => void;
}

/** Who is called when more sockets are open than there is room for. */
export interface Relief {
  room(): number;
  /** Closes some, or has them closed soon. */
  relieve(sockets: number): void;
}

const EVENTS_AT_ONCE = 256;
/** struct epoll_event has 12 bytes on x86-64, where it is packed, and 16 elsewhere. */
const EVENT_BYTES = process.arch === "x64" ? 12 : 16;
const DATA_OFFSET = EVENT_BYTES - 8;

/**
 * One loop, for a thread of its own.
 *
 * It blocks that thread, so timers and sockets of Bun do not work there; promises do, since their reactions are run
 * after each round.
 */
export class Reactor {
  readonly timers: Timers;
  readonly #onFault: (error: unknown) => void;
  readonly #epoll = libc.epoll_create1(SOCK_CLOEXEC);
  readonly #watchers: (Watcher | undefined)[] = [];
  readonly #change = new DataView(new ArrayBuffer(EVENT_BYTES));
  readonly #changeAddress = addressOf(this.#change);
  readonly #events = new Int32Array((EVENTS_AT_ONCE * EVENT_BYTES) / 4);
  readonly #eventsAddress = addressOf(this.#events);
  /** Closed when a round is over: before that, events of a descriptor could be taken for those of a later one with its number. */
  #discarded: number[] = [];
  #isStopping = false;
  #sockets = 0;
  /** Asked when a round is over. */
  relief: Relief | null = null;
  readonly #runTimers = () => this.timers.run();
  readonly #relieve = () => {
    if (this.relief === null || this.#sockets <= this.relief.room()) return;
    this.relief.relieve(this.#sockets);
    drainMicrotasks();
  };

  constructor({ now = () => performance.now(), onFault = () => {} }: ReactorOptions = {}) {
    this.timers = new Timers(now);
    this.#onFault = onFault;
  }

  /** @param events a set of `EPOLL...` bits; `EPOLLERR` and `EPOLLHUP` always are among them. */
  watch(fd: number, events: number, watcher: Watcher): void {
    this.#watchers[fd] = watcher;
    this.#control(EPOLL_CTL_ADD, fd, events);
  }

  /** Changes the events that a watched descriptor is watched for. */
  rewatch(fd: number, events: number): void {
    this.#control(EPOLL_CTL_MOD, fd, events);
  }

  unwatch(fd: number): void {
    this.#watchers[fd] = undefined;
    this.#control(EPOLL_CTL_DEL, fd, 0);
  }

  /** How many sockets were adopted and not discarded. */
  get sockets(): number {
    return this.#sockets;
  }

  /** Counts a socket whose descriptor is given back by `discard`. */
  adopt(): void {
    this.#sockets += 1;
  }

  /** Closes the descriptor of an adopted socket that is not watched any more. */
  discard(fd: number): void {
    this.#sockets -= 1;
    this.#discarded.push(fd);
  }

  /** Runs until `stop`. */
  run(): void {
    // What was promised before the first round is no reason to wait for an event.
    drainMicrotasks();
    while (!this.#isStopping) this.turn(this.timers.untilNextMs());
    libc.close(this.#epoll);
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** One round. @param timeoutMs how long to wait when nothing is ready; -1 is for ever. */
  turn(timeoutMs: number): void {
    const count = libc.epoll_wait(this.#epoll, this.#eventsAddress, EVENTS_AT_ONCE, timeoutMs);
    if (count < 0 && errno() !== EINTR) throw new Error(`epoll_wait failed with ${errno()}`);
    const step = EVENT_BYTES / 4;
    for (let index = 0; index < count; index++) {
      const events = this.#events[index * step] ?? 0;
      const fd = this.#events[index * step + DATA_OFFSET / 4] ?? -1;
      const watcher = this.#watchers[fd];
      if (watcher !== undefined) this.#call(watcher, events);
    }
    this.attempt(this.#runTimers);
    drainMicrotasks();
    this.attempt(this.#relieve);
    for (const fd of this.#discarded) libc.close(fd);
    this.#discarded = [];
  }

  /** Does something of which the loop must not end, whatever it throws. */
  attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#onFault(error);
    }
  }

  #call(watcher: Watcher, events: number): void {
    try {
      watcher.ready(events);
    } catch (error) {
      this.#onFault(error);
      this.attempt(() => watcher.failed());
    }
  }

  #control(operation: number, fd: number, events: number): void {
    this.#change.setUint32(0, events, true);
    this.#change.setInt32(DATA_OFFSET, fd, true);
    if (libc.epoll_ctl(this.#epoll, operation, fd, this.#changeAddress) < 0) {
      throw new Error(`epoll_ctl ${operation} of ${fd} failed with ${errno()}`);
    }
  }
}
