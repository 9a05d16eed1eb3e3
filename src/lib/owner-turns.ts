// Chooses which work begins next when work of several owners waits: that of the owner with the least under way, and of
// equal owners that of the least recently served. So an owner with much work keeps no other owner waiting.

/** How many owners are remembered; a forgotten owner was served before all of them, and has its turn before them. */
const MAX_REMEMBERED = 1_024;

export class OwnerTurns {
  readonly #underWay = new Map<string, number>();
  /** The number of the latest turn of each owner, the earliest first. */
  readonly #latest = new Map<string, number>();
  #turn = 0;

  /** How much work of an owner is under way. */
  underWay(owner: string): number {
    return this.#underWay.get(owner) ?? 0;
  }

  /** Chooses from what waits, in the order of its coming; undefined when nothing waits. */
  next<T extends { owner: string }>(waiting: readonly T[]): T | undefined {
    let [chosen] = waiting;
    for (const each of waiting)
      if (chosen !== undefined && this.#isBefore(each.owner, chosen.owner)) chosen = each;
    return chosen;
  }

  /** Begins work of an owner. The returned function ends it, and is called once. */
  begin(owner: string): () => void {
    this.remember(owner);
    this.#underWay.set(owner, this.underWay(owner) + 1);
    return () => this.#end(owner);
  }

  /** Notes that an owner has had its turn now. */
  remember(owner: string): void {
    this.#turn += 1;
    this.#latest.delete(owner);
    this.#latest.set(owner, this.#turn);
    if (this.#latest.size <= MAX_REMEMBERED) return;
    const [earliest] = this.#latest.keys();
    if (earliest !== undefined) this.#latest.delete(earliest);
  }

  #end(owner: string): void {
    const left = this.underWay(owner) - 1;
    if (left > 0) this.#underWay.set(owner, left);
    else this.#underWay.delete(owner);
  }

  #isBefore(a: string, b: string): boolean {
    const difference = this.underWay(a) - this.underWay(b);
    if (difference !== 0) return difference < 0;
    return (this.#latest.get(a) ?? 0) < (this.#latest.get(b) ?? 0);
  }
}
