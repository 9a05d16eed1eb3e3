// The requests of one instance behind the edge, as far as its sleep depends on them.
import type { WakeReason } from "../../contracts/sleep.ts";
import type { SleepCycleParts } from "./sleep-cycle-parts.ts";

/** Stands for the user in the record of a wake by a request, which knows none. */
const EDGE_USER = "http";

export class EdgeRequests {
  readonly #parts: Pick<SleepCycleParts, "id" | "file" | "edge">;
  /** The first client that has asked for the instance since its latest suspension began. */
  #client: string | null = null;

  constructor(parts: Pick<SleepCycleParts, "id" | "file" | "edge">) {
    this.#parts = parts;
  }

  /** Whether the instance is behind the edge, which knows how long it is idle. */
  get areKnown(): boolean {
    return this.#parts.file.manifest?.spec.kind === "application";
  }

  /** Whether an instance behind the edge had no request for as long; true for any other instance. */
  allowSleepAfter(seconds: number): boolean {
    return !this.areKnown || this.#parts.edge.idleSeconds(this.#parts.id) >= seconds;
  }

  /** A client needs the instance. @param client its address and port; empty if they are not known. */
  wanted(client: string): void {
    this.#client ??= client;
  }

  /** What woke the instance; null when no client of the edge did. */
  takeReason(): WakeReason | null {
    const address = this.#client;
    this.#client = null;
    return address === null ? null : { user: EDGE_USER, address };
  }

  /** Clients that asked before a suspension wake nothing after it. */
  forgetClient(): void {
    this.#client = null;
  }
}
