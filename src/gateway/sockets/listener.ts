// Accepts clients at a listening socket.
import type { Socket, SocketListener } from "bun";
import { BACKLOG, isListening } from "../../lib/held-socket.ts";
import { duplicate } from "../../lib/libc.ts";
import { sockets } from "../../lib/socket-calls.ts";
import { peerText, tune } from "./dial.ts";
import { NOBODY, streamHandlers, type SocketOwner } from "./handlers.ts";
import type { SocketPool } from "./socket-pool.ts";
import type { Timer } from "./timers.ts";

/** How long clients wait in the kernel's queue when the process has hardly a descriptor left. */
const PAUSE_MS = 50;
/**
 * After so many clients in a second, a listener rests for a moment after each turn in which it accepts some: a flood
 * would otherwise keep a processor busy that the clients of other instances need (`bench/floods`).
 */
const RUSH = { clients: 4_000, windowMs: 1_000, pauseMs: 1 };
/** Descriptors that stay free: the runtime asks the kernel again and again for a client that it has none for. */
const SPARE_DESCRIPTORS = 4;

/** Takes a client's socket, with the client's address and port. */
export type Accept = (socket: Socket<SocketOwner>, address: string) => void;

export class Listener {
  readonly #pool: SocketPool;
  readonly #accepted: Accept;
  #fd: number;
  #listener: SocketListener<SocketOwner> | null = null;
  #pause: Timer | null = null;
  #isClosed = false;
  /** The latest turn in which it accepted clients, and how many. */
  #turn = { number: 0, accepted: 0 };
  /** The clients of a second. */
  #window = { beganAtMs: -Infinity, accepted: 0 };

  /**
   * @param fd a listening socket, which this listener owns from then on.
   * @param accepted gets the socket of each client, and has a stream adopt it at once.
   */
  constructor(pool: SocketPool, fd: number, accepted: Accept) {
    this.#pool = pool;
    this.#accepted = accepted;
    this.#fd = fd;
    this.#listen();
  }

  /** The socket; `close` closes it. */
  get fd(): number {
    return this.#fd;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Accepts no client any more. Later clients wait in the kernel for another process that has the socket. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pause?.cancel();
    if (this.#listener === null) sockets.close(this.#fd);
    else this.#listener.stop();
  }

  #listen(): void {
    // The runtime has the socket listen again, which must not happen at an address that the host has taken back.
    const isDone = isListening(this.#fd) && this.#pool.attempt(() => this.#begin());
    if (!isDone) this.close();
  }

  #begin(): void {
    this.#listener = Bun.listen<SocketOwner>({
      fd: this.#fd,
      data: NOBODY,
      allowHalfOpen: true,
      socket: { ...streamHandlers, open: (socket) => this.#open(socket) },
    });
    // The kernel gives the options of this socket to each client's.
    tune(this.#fd);
    // The runtime has shortened the queue of the clients that wait.
    sockets.listen(this.#fd, BACKLOG);
  }

  #open(socket: Socket<SocketOwner>): void {
    if (this.#isClosed) return void socket.close();
    const { fd } = socket;
    this.#take(socket);
    const mostNow = this.#pool.turns.accepted();
    if (this.#isScarce(fd)) this.#rest(() => this.#goOnLater());
    else if (this.#countInTurn() >= mostNow)
      this.#rest(() => (this.#isRushed() ? this.#goOnAfterPause() : this.#goOnSoon()));
  }

  #take(socket: Socket<SocketOwner>): void {
    const address = peerText(socket);
    // A client that has reset its connection before it was accepted has no address any more.
    const isTaken = address !== null && this.#pool.attempt(() => this.#accepted(socket, address));
    if (!isTaken) socket.close();
  }

  /** Counts a client. @returns how many it has accepted in this turn. */
  #countInTurn(): number {
    const { number } = this.#pool.turns;
    if (this.#turn.number !== number) this.#turn = { number, accepted: 0 };
    this.#turn.accepted += 1;
    this.#window.accepted += 1;
    return this.#turn.accepted;
  }

  /** Whether its clients come as fast as those of a flood. */
  #isRushed(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#window.beganAtMs > RUSH.windowMs) this.#window = { beganAtMs: nowMs, accepted: 0 };
    return this.#window.accepted > RUSH.clients;
  }

  /** Leaves the next clients in the kernel's queue for a while. @param goOn arranges the end of the rest. */
  #rest(goOn: () => void): void {
    if (this.#isClosed || this.#listener === null) return;
    const copy = duplicate(this.#fd);
    if (copy === null) return;
    this.#listener.stop();
    this.#listener = null;
    this.#fd = copy;
    goOn();
  }

  #goOnSoon(): void {
    this.#pool.turns.atEnd(() => this.#goOn());
  }

  #goOnAfterPause(): void {
    setTimeout(() => this.#goOn(), RUSH.pauseMs);
  }

  #goOn(): void {
    if (!this.#isClosed) this.#listen();
  }

  #goOnLater(): void {
    this.#pause = this.#pool.timers.after(PAUSE_MS, () => {
      // The kernel gives out the lowest number that is free.
      const next = duplicate(this.#fd);
      if (next !== null) sockets.close(next);
      if (next === null || this.#isScarce(next)) this.#goOnLater();
      else this.#listen();
    });
  }

  #isScarce(fd: number): boolean {
    return fd >= this.#pool.openFiles - SPARE_DESCRIPTORS;
  }
}
