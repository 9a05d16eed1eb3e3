// Bounds how many of something happen at once, in all and for each owner, so that a slow owner leaves places to others.
import { Places } from "./places.ts";

interface Owned {
  places: Places;
  users: number;
}

export class SharedPlaces {
  readonly #places: Places;
  readonly #countOfOne: number;
  /** The owners with a task under way or in line. */
  readonly #owned = new Map<string, Owned>();

  /** @param countOfOne how many of the places one owner has at most. */
  constructor(count: number, countOfOne: number) {
    this.#places = new Places(count);
    this.#countOfOne = countOfOne;
  }

  /** Does the task in a place of the owner. @throws what the task throws. */
  async run<T>(owner: string, task: () => Promise<T>): Promise<T> {
    const owned = this.#owned.get(owner) ?? { places: new Places(this.#countOfOne), users: 0 };
    this.#owned.set(owner, owned);
    owned.users += 1;
    try {
      return await owned.places.run(() => this.#places.run(task));
    } finally {
      owned.users -= 1;
      if (owned.users === 0) this.#owned.delete(owner);
    }
  }
}
