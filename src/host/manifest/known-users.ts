// Who may log in to an instance, as its engine said last.
import type { InstanceUser } from "../../drivers/driver.ts";
import { boundedUsers, type UserList } from "../../engines/users.ts";

/** However often it is asked, an engine is asked no more often than this. */
const SHORTEST_PAUSE_MS = 250;

/** What is known of users is made of. */
export interface KnownUsersParts {
  /** Has the engine tell; null when it does not run or does not answer, which changes nothing. */
  ask(): Promise<UserList | null>;
  /** The users of the spec. */
  own(): InstanceUser[];
  /** Called after each time the engine was asked, whether it told or not. */
  onAnswer(): void;
  /** Called with how many users are left out since there are too many, or they are too large, whenever they are known anew. */
  onLeftOut(leftOut: number): void;
}

export class KnownUsers {
  readonly #parts: KnownUsersParts;
  #list: InstanceUser[] = [];
  #asking: Promise<void> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: KnownUsersParts) {
    this.#parts = parts;
  }

  get list(): InstanceUser[] {
    return this.#list;
  }

  /** They are known from elsewhere. @returns what is kept of them. */
  set(list: UserList): UserList {
    const kept = boundedUsers(list, this.#parts.own());
    this.#list = kept.users;
    this.#parts.onLeftOut(kept.leftOut);
    return kept;
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
    const told = await this.#parts.ask();
    if (told !== null) this.set(told);
    this.#parts.onAnswer();
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
