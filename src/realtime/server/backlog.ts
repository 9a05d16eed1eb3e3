// How much waits in the buffers of sockets, so that slow clients are looked for when it matters.
import type { Cluster } from "../cluster.ts";
import type { Log } from "../../lib/line-log.ts";
import { closeByAnswers, closeSlowConsumers } from "../slow-consumers.ts";

/** Buffers that have grown by less, or by thrice as much, make little difference to the limits of slow clients. */
const UNCHECKED_BYTES = 32 * 1024;
/** So many bytes of answers may begin to wait before they are checked, however soon. */
const UNCHECKED_ANSWER_BYTES = 4 * 1024 ** 2;
/** The most bytes that may wait for clients that the server has closed, and how long they wait at most. */
const MAX_LINGERING_BYTES = 64 * 1024 ** 2;
const LINGER_MS = 5_000;

export class Backlog {
  /**
   * No buffer has grown by more than this since the last check by the clock. Of a published frame the UTF-16 units are
   * counted, which are at least a third of its bytes: to count bytes would cost each event a walk through its text.
   */
  bytes = 0;
  /** All buffers together have grown by no more answers than this since the last check. */
  answerBytes = 0;
  readonly #cluster: Cluster;
  readonly #log: Log;
  /** Clients that were closed and are not in the log, which has one line for all of a tick. */
  #closedCount = 0;
  #lingeringSince = -Infinity;
  #lingeringBytes = 0;

  constructor(cluster: Cluster, log: Log) {
    this.#cluster = cluster;
    this.#log = log;
  }

  /** Closes slow clients, and lets clients send to each other again; called by the clock. */
  check(): void {
    this.#cluster.clientBudget.renew();
    if (this.bytes < UNCHECKED_BYTES) return;
    this.bytes = 0;
    this.answerBytes = 0;
    this.#closedCount += closeSlowConsumers(this.#cluster);
    if (this.#closedCount === 0) return;
    this.#log.warn({ count: this.#closedCount }, "clients that did not read were closed");
    this.#closedCount = 0;
  }

  /** Closes clients that ask for more than they read; called after each message. */
  checkAnswers(): void {
    if (this.answerBytes < UNCHECKED_ANSWER_BYTES) return;
    this.answerBytes = 0;
    this.#closedCount += closeByAnswers(this.#cluster);
  }

  /**
   * Whether the bytes that wait for a client may go on waiting when it is closed. No check sees them any more, and a
   * client can connect again at once and have as much wait.
   */
  mayLinger(bytes: number): boolean {
    if (bytes === 0) return true;
    const now = performance.now();
    if (now - this.#lingeringSince > LINGER_MS) {
      this.#lingeringSince = now;
      this.#lingeringBytes = 0;
    }
    this.#lingeringBytes += bytes;
    return this.#lingeringBytes <= MAX_LINGERING_BYTES;
  }
}
