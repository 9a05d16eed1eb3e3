// The use of one instance behind the edge, as far as its sleep depends on it.
import type { WakeReason } from "../../contracts/sleep.ts";
import type { SleepCycleParts } from "./sleep-cycle-parts.ts";

export class EdgeUse {
  readonly #parts: Pick<SleepCycleParts, "id" | "file" | "edge">;
  /** Who has asked first for the instance since its latest suspension began. */
  #reason: WakeReason | null = null;

  constructor(parts: Pick<SleepCycleParts, "id" | "file" | "edge">) {
    this.#parts = parts;
  }

  /** Whether the instance is behind the edge, which knows how long it is idle. */
  get isKnown(): boolean {
    return this.#parts.file.manifest?.spec.kind === "application";
  }

  /** Has the edge report now: a request since its latest report is a use as well. */
  async measure(): Promise<void> {
    if (this.isKnown) await this.#parts.edge.measureUse();
  }

  /** Whether an instance behind the edge had no request for as long; true for any other instance. */
  allowSleepAfter(seconds: number): boolean {
    return !this.isKnown || this.#parts.edge.idleSeconds(this.#parts.id) >= seconds;
  }

  /** A client needs the instance, or another reason wakes it. */
  wanted(reason: WakeReason): void {
    this.#reason ??= reason;
  }

  /** What woke the instance; null when neither a client of the edge nor the control plane did. */
  takeReason(): WakeReason | null {
    const reason = this.#reason;
    this.#reason = null;
    return reason;
  }

  /** Clients that asked before a suspension wake nothing after it. */
  forgetReason(): void {
    this.#reason = null;
  }
}
