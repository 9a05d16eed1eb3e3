// The users that may log in to an instance, as its engine last reported them.
import type { InstanceUser } from "../../contracts/users.ts";
import { boundedUsers, type UserList } from "../../engines/users.ts";

/** The shortest pause between two reads from the engine, for any number of requests. */
const SHORTEST_PAUSE_MS = 250;

/** The parts that known users work with. */
interface KnownUsersParts {
  /** Reads the users from the engine; null when the engine does not run or does not answer, which changes nothing. */
  ask(): Promise<UserList | null>;
  /** The users of the spec. */
  own(): InstanceUser[];
  /** Called after each read, successful or not. @param question the latest question that came before the read began. */
  onAnswer(question: number | undefined): void;
  /** Called at each update with the number of users that the bounds leave out. */
  onLeftOut(leftOut: number): void;
}

export class KnownUsers {
  readonly #parts: KnownUsersParts;
  #list: InstanceUser[] = [];
  #asking: Promise<void> | null = null;
  /** The question that the next read answers. */
  #question: number | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** As of when the list is known. */
  #knownAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: KnownUsersParts) {
    this.#parts = parts;
  }

  get list(): InstanceUser[] {
    return this.#list;
  }

  /**
   * Sets the users. A read that began earlier changes them no more.
   * @param knownAtMs as of when they are known, as `performance.now()` says it.
   * @returns the users that are kept.
   */
  set(list: UserList, knownAtMs = performance.now()): UserList {
    this.#knownAtMs = knownAtMs;
    const kept = boundedUsers(list, this.#parts.own());
    this.#list = kept.users;
    this.#parts.onLeftOut(kept.leftOut);
    return kept;
  }

  /** Reads the users from the engine. Requests before the read begins share it. @param question that of the gateway. */
  refresh(question?: number): Promise<void> {
    this.#question = question ?? this.#question;
    return (this.#asking ??= this.#refresh());
  }

  async #refresh(): Promise<void> {
    // Always awaits once, because `refresh` stores this promise only after this function has returned it.
    await Bun.sleep(Math.max(0, this.#askedAt + SHORTEST_PAUSE_MS - performance.now()));
    // A later caller may know of a change that this read misses, so it gets a read of its own.
    this.#asking = null;
    const question = this.#question;
    this.#question = undefined;
    const begunAt = performance.now();
    this.#askedAt = begunAt;
    const answer = await this.#parts.ask();
    // An engine that is slow may answer a later read first, whose users are newer.
    if (answer !== null && begunAt > this.#knownAtMs) this.set(answer, begunAt);
    this.#parts.onAnswer(question);
  }
}

/** The known users, with the spec's users in place of those with the same names. */
export function withUsersOf(
  { users }: { users: InstanceUser[] },
  known: InstanceUser[] | null,
): InstanceUser[] {
  const names = new Set(users.map(({ name }) => name));
  return [...users, ...(known ?? []).filter(({ name }) => !names.has(name))];
}
