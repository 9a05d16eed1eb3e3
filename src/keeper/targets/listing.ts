// Lists the objects of several targets.
import type { StoredObject } from "../object-store.ts";
import type { KeptTarget } from "./kept-target.ts";

/** What targets have together. */
export interface Listing {
  /** By name. */
  objects: StoredObject[];
  answering: KeptTarget[];
}

/** What the targets that answer have together; the first target that has an object counts. @throws when none answers. */
export async function listingOf(targets: KeptTarget[], prefix: string): Promise<Listing> {
  const listings = await Promise.allSettled(targets.map((kept) => kept.list(prefix)));
  const answering = targets.filter((_, index) => listings[index]?.status === "fulfilled");
  if (answering.length === 0) throw listings.find((listing) => listing.status === "rejected")?.reason;
  const answers = listings.filter((listing) => listing.status === "fulfilled");
  const found = new Map<string, StoredObject>();
  for (const { value } of answers.toReversed()) for (const object of value) found.set(object.name, object);
  return { objects: [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), answering };
}

/** Whether every target answers, and has no other object whose name begins with the prefix. */
export async function haveNothingBut(targets: KeptTarget[], name: string, prefix: string): Promise<boolean> {
  const listings = await Promise.all(targets.map(async (kept) => await kept.list(prefix).catch(() => null)));
  return listings.every((found) => found?.every((object) => object.name === name) === true);
}
