// What may go at last: segments that retention has named twice, and nothing that a planned restore reads.

/** A restore has this long to read its segments. */
const RESTORE_MS = 6 * 3_600_000;
/** A segment is deleted no sooner than this after retention named it first. */
const MARKED_MS = 1000;
/** The digits of a name before them are the timeline. */
const TIMELINE_DIGITS = 8;

export class HeldSegments {
  readonly #markedAt = new Map<string, number>();
  #restores: { backup: string; first: string | null; until: number }[] = [];

  /** A restore of a backup was planned. @param first the first segment that it reads. */
  hold(backup: string, first: string | undefined, now: number): void {
    this.#restores.push({
      backup,
      first: first === undefined ? null : numberPart(first),
      until: now + RESTORE_MS,
    });
  }

  /** Whether a planned restore may still read a backup. */
  holds(backup: string, now: number): boolean {
    return this.#restores.some((restore) => restore.backup === backup && restore.until > now);
  }

  /** Whether a planned restore may still read a segment. */
  keeps(segment: string, now: number): boolean {
    return this.#restores.some(
      ({ first, until }) => first !== null && until > now && numberPart(segment) >= first,
    );
  }

  /** @param named all that retention names now. @returns those of them to delete now. */
  release(named: string[], now: number): string[] {
    this.#restores = this.#restores.filter(({ until }) => until > now);
    const stillNamed = new Set(named);
    for (const name of this.#markedAt.keys()) if (!stillNamed.has(name)) this.#markedAt.delete(name);
    const released = named.filter(
      (name) => now - (this.#markedAt.get(name) ?? now) >= MARKED_MS && !this.keeps(name, now),
    );
    for (const name of named) if (!this.#markedAt.has(name)) this.#markedAt.set(name, now);
    for (const name of released) this.#markedAt.delete(name);
    return released;
  }
}

function numberPart(name: string): string {
  return name.slice(TIMELINE_DIGITS);
}
