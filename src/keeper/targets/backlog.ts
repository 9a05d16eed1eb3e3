// What a target has missed since it was caught up: writes that failed, and deletions that have to wait for others.
import { folderOf } from "../names.ts";
import type { Deletion, TargetNotes } from "./target-notes.ts";

export class Backlog {
  readonly #notes: TargetNotes;
  #missed = 1;
  #caughtUp = 0;
  /** Folders in which a write failed since the latest attempt to catch up began, each with the latest such write. */
  readonly #incomplete = new Map<string, number>();
  /** Deletions that wait for earlier writes only, by name. */
  #waiting = new Set<string>();

  constructor(notes: TargetNotes) {
    this.#notes = notes;
  }

  /** Whether the target may lack objects that other targets have. Nothing is known about it at first. */
  get isBehind(): boolean {
    return this.#missed > this.#caughtUp;
  }

  /** The target lacks something. */
  add(): void {
    this.#missed += 1;
  }

  /** An object could not be stored, so what it replaces in its folder must stay until the target is caught up. */
  addWrite(name: string): void {
    this.add();
    const folder = folderOf(name);
    this.#incomplete.set(folder, this.#missed);
    for (const waiting of this.#waiting) if (folderOf(waiting) === folder) this.#waiting.delete(waiting);
  }

  /** Whether an object of a folder could not be stored a moment ago. */
  isIncomplete(folder: string): boolean {
    return this.#incomplete.has(folder);
  }

  /** Notes a deletion that waits until the target is caught up. */
  addDeletion(name: string): void {
    this.#notes.addDeletion(name);
    this.add();
  }

  /** Notes a deletion that waits until what was written before is stored. */
  postpone(name: string): void {
    this.#notes.addDeletion(name);
    this.#waiting.add(name);
  }

  /** The deletions that wait for earlier writes only. */
  get postponed(): Deletion[] {
    const postponed = this.#notes.deletions.filter((deletion) => this.isPostponed(deletion));
    this.#waiting = new Set(postponed.map(({ name }) => name));
    return postponed;
  }

  /** Whether a deletion still waits for earlier writes only: one of these may have failed meanwhile. */
  isPostponed({ name }: Deletion): boolean {
    return this.#waiting.has(name);
  }

  /** Begins an attempt to catch up; the returned function ends it, with what was missed meanwhile left over. */
  beginCatchUp(): (hasWorked: boolean) => void {
    const missed = this.#missed;
    return (hasWorked) => {
      if (hasWorked) this.#caughtUp = missed;
      // When not even that helped, what is written from now on must not wait for it.
      for (const [folder, write] of this.#incomplete) if (write <= missed) this.#incomplete.delete(folder);
    };
  }
}
