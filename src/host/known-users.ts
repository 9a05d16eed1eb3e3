// Who may log in to an instance, as its engine said last.
import type { InstanceUser } from "../drivers/driver.ts";

/** However often it is asked, an engine is asked no more often than this. */
const SHORTEST_PAUSE_MS = 250;

export class KnownUsers {
  readonly #ask: () => Promise<InstanceUser[] | null>;
  readonly #onAnswer: () => void;
  #list: InstanceUser[] = [];
  #asking: Promise<void> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param ask has the engine tell; null when it does not run or does not answer, which changes nothing.
   * @param onAnswer is called after each time, whether it told or not.
   */
  constructor(ask: () => Promise<InstanceUser[] | null>, onAnswer: () => void) {
    this.#ask = ask;
    this.#onAnswer = onAnswer;
  }

  get list(): InstanceUser[] {
    return this.#list;
  }

  /** They are known from elsewhere. */
  set(users: InstanceUser[]): void {
    this.#list = users;
  }

  /** Asks the engine; whoever wants the same while that is to come gets the same answer. */
  refresh(): Promise<void> {
    return (this.#asking ??= this.#refresh());
  }

  async #refresh(): Promise<void> {
    // Waits in any case: `refresh` keeps this promise only when it has it.
    await Bun.sleep(Math.max(0, this.#askedAt + SHORTEST_PAUSE_MS - performance.now()));
    // Who asks from here on may know of a change that this answer does not have.
    this.#asking = null;
    this.#askedAt = performance.now();
    this.#list = (await this.#ask()) ?? this.#list;
    this.#onAnswer();
  }
}

/** The users that were known, with the verifiers of the spec in the place of theirs. */
export function withUsersOf(
  { users }: { users: InstanceUser[] },
  known: InstanceUser[] | null,
): InstanceUser[] {
  const names = new Set(users.map(({ name }) => name));
  return [...users, ...(known ?? []).filter(({ name }) => !names.has(name))];
}
