// The gateway's loop: waits until descriptors can be read or written, and calls their watchers.
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

/** The owner of a watched descriptor. */
export interface Watcher {
  /** @param events a set of `EPOLL...` bits. */
  ready(events: number): void;
  /** Called when `ready` has thrown. It must remove the cause, or the loop would call `ready` again for ever. */
  failed(): void;
}

export interface ReactorOptions {
  /** The clock of the timers, in milliseconds that never go back. */
  now?: () => number;
  /** Gets each uncaught error: a fault of the program, which ends at most one connection. */
  onFault?: (error: unknown) => void;
}

/** Closes sockets when more are open than there is room for. */
export interface Relief {
  room(): number;
  /** Closes some sockets, now or soon. @param sockets how many are open. */
  relieve(sockets: number): void;
}

const EVENTS_AT_ONCE = 256;
/** struct epoll_event has 12 bytes on x86-64, where it is packed, and 16 elsewhere. */
const EVENT_BYTES = process.arch === "x64" ? 12 : 16;
const DATA_OFFSET = EVENT_BYTES - 8;

/**
 * One loop, for a thread of its own.
 *
 * It blocks that thread, so Bun's timers and sockets do not work there. Promises do: their reactions run after each
 * round.
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
  /** Closed at the end of a round: a new descriptor with the same number would get events of the old descriptor. */
  #discarded: number[] = [];
  #isStopping = false;
  #sockets = 0;
  /** Called at the end of each round. */
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

  /** Changes the events of a watched descriptor. */
  rewatch(fd: number, events: number): void {
    this.#control(EPOLL_CTL_MOD, fd, events);
  }

  unwatch(fd: number): void {
    this.#watchers[fd] = undefined;
    this.#control(EPOLL_CTL_DEL, fd, 0);
  }

  /** The count of sockets that were adopted and not discarded. */
  get sockets(): number {
    return this.#sockets;
  }

  /** Counts a socket; `discard` closes its descriptor. */
  adopt(): void {
    this.#sockets += 1;
  }

  /** Closes the descriptor of an adopted socket after the round; it must not be watched any more. */
  discard(fd: number): void {
    this.#sockets -= 1;
    this.#discarded.push(fd);
  }

  /** Runs until `stop`. */
  run(): void {
    // Promises settled before the first round run now: they would otherwise wait for the first event.
    drainMicrotasks();
    while (!this.#isStopping) this.turn(this.timers.untilNextMs());
    libc.close(this.#epoll);
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** Runs one round. @param timeoutMs how long to wait when nothing is ready; -1 is for ever. */
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

  /** Runs an action and reports its error, so that no error ends the loop. */
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
