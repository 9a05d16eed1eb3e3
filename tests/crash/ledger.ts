// A ledger of acknowledged writes: writers that record, outside of the engine, every write that it confirmed.
import { expect } from "bun:test";
import { until } from "../support/pilvi/pilvi.ts";
import { openSession, type Resource, type Session } from "./ledger-sessions.ts";

const PATIENCE_MS = 60_000;

/** How the ledger stood at an instant. */
export interface LedgerMark {
  at: string;
  /** So many of the confirmed numbers were confirmed before the instant: all of them must be there. */
  acknowledged: number;
  /** No number from this one on was sent before the instant: none of them may be there. */
  unsent: number;
}

/** Writes one number at a time until it is stopped, over sessions that are opened anew when they break. */
export class Ledger {
  readonly resource: Resource;
  /** Every confirmed number, with the time of its confirmation. */
  readonly #acknowledged = new Map<number, number>();
  /** Confirmed numbers that may be lost all the same. */
  readonly #excused = new Set<number>();
  readonly #underWay = new Set<number>();
  readonly #writers: Promise<void>[];
  #next = 0;
  #isStopping = false;
  #pause: PromiseWithResolvers<void> | null = null;

  private constructor(resource: Resource, writers: number) {
    this.resource = resource;
    this.#writers = Array.from({ length: writers }, (_, index) => this.#write(index % 2 === 1));
  }

  /** Creates the table or key for the numbers and begins to write. */
  static async begin(resource: Resource, writers = 2): Promise<Ledger> {
    const session = await openSession(resource);
    await session.prepare();
    await session.end();
    return new Ledger(resource, writers);
  }

  /** Waits until so many more writes were confirmed, which shows that the engine accepts them. */
  async advance(count: number, patienceMs = PATIENCE_MS): Promise<void> {
    const goal = this.#acknowledged.size + count;
    const what = `${this.resource.id} confirms ${count} more writes`;
    await until(what, () => this.#acknowledged.size >= goal, patienceMs);
  }

  /** Pauses the writers until `resume`: the first of each two keeps its session, the second ends it. */
  pause(): void {
    this.#pause ??= Promise.withResolvers();
  }

  resume(): void {
    this.#pause?.resolve();
    this.#pause = null;
  }

  /**
   * Numbers confirmed since then may be lost, and so may numbers on their way.
   * @param sinceMs by `performance.now()`.
   */
  excuse(sinceMs: number): void {
    for (const n of this.#underWay) this.#excused.add(n);
    for (const [n, atMs] of this.#acknowledged) if (atMs >= sinceMs) this.#excused.add(n);
  }

  /** Marks the next instant. @param grainMs the grain of the instants that can be restored. */
  async mark(grainMs: number): Promise<LedgerMark> {
    const acknowledged = this.#acknowledged.size;
    const atMs = (Math.floor(Date.now() / grainMs) + 1) * grainMs;
    await until("the marked instant is over", () => Date.now() >= atMs);
    return { at: new Date(atMs).toISOString(), acknowledged, unsent: this.#next };
  }

  /** Compares a copy of the instance as of an instant with the ledger of that instant. */
  async compare(copy: Resource, mark: LedgerMark): Promise<{ lost: number[]; invented: number[] }> {
    const session = await openSession(copy);
    const stored = new Set(await session.numbers().finally(() => session.end()));
    const acknowledged = [...this.#acknowledged.keys()].slice(0, mark.acknowledged);
    return {
      lost: acknowledged.filter((n) => !stored.has(n)),
      invented: [...stored].filter((n) => n >= mark.unsent),
    };
  }

  /** Checks that every confirmed number is there, and that every number there was written. */
  async check(): Promise<void> {
    const acknowledged = [...this.#acknowledged.keys()];
    const stored = new Set(await this.#stored());
    const lost = acknowledged.filter((n) => !stored.has(n) && !this.#excused.has(n));
    const invented = [...stored].filter((n) => n >= this.#next);
    expect({ id: this.resource.id, lost, invented }).toEqual({
      id: this.resource.id,
      lost: [],
      invented: [],
    });
  }

  /** Ends the writers. @throws when a writer waits for an answer that does not come. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.resume();
    let hasEnded = false;
    void Promise.all(this.#writers).then(() => (hasEnded = true));
    await until(`all writers of ${this.resource.id} have ended`, () => hasEnded, PATIENCE_MS);
  }

  /** A killed process may not have been noticed yet, so the first answer need not be the last. */
  async #stored(): Promise<number[]> {
    let numbers: number[] | undefined;
    await until(
      `the ledger in ${this.resource.id} can be read`,
      async () => {
        numbers = await this.#read().catch(() => undefined);
        return numbers !== undefined;
      },
      PATIENCE_MS,
    );
    return numbers ?? [];
  }

  async #read(): Promise<number[]> {
    const session = await openSession(this.resource);
    return await session.numbers().finally(() => session.end());
  }

  async #write(endsAtPause: boolean): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.#pause?.promise;
        const session = await openSession(this.resource);
        await this.#writeUntilItBreaks(session, endsAtPause).finally(() => session.end());
      } catch {
        // The engine is on its way down or up again. An unconfirmed write may be there or not.
        await Bun.sleep(2);
      }
    }
  }

  async #writeUntilItBreaks(session: Session, endsAtPause: boolean): Promise<void> {
    while (!this.#isStopping) {
      if (this.#pause !== null && endsAtPause) return;
      await this.#pause?.promise;
      const n = this.#next++;
      this.#underWay.add(n);
      await session.add(n).finally(() => this.#underWay.delete(n));
      this.#acknowledged.set(n, performance.now());
    }
  }
}
