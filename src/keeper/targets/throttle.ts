// Spreads bytes over time, so that backups leave room on a disk or a line for others.

export class Throttle {
  readonly #bytesPerMs: number;
  #freeAt = 0;

  /** @param bytesPerSecond 0 for no bound. */
  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  /** Resolves when these bytes may pass: at once after a pause, later while others pass. */
  async take(bytes: number): Promise<void> {
    if (this.#bytesPerMs === 0) return;
    const now = performance.now();
    const startAt = Math.max(now, this.#freeAt);
    this.#freeAt = startAt + bytes / this.#bytesPerMs;
    if (startAt > now) await Bun.sleep(startAt - now);
  }
}
