// What the commands that are alike for all kinds of resources have to know of a kind.
import type { PageDocument, PilviClient, SingleDocument } from "../../sdk/index.ts";

/** The parts of anything with a name that those commands look at. */
export interface Named {
  id: string;
  attributes: { name: string };
}

/** The parts of what has a status of its own, and can therefore be waited for. */
export interface Resource extends Named {
  attributes: { name: string; status: string };
  /** Absent for what has no work of its own, such as a database in a cluster. */
  meta?: { last_error: string | null };
}

/** The requests that those commands send; the client has them for every kind. */
export interface Requests<Document extends SingleDocument<Named>> {
  pages(options?: { filter?: Record<string, string> }): AsyncGenerator<PageDocument<Document["data"]>>;
  get(
    id: string,
    options?: { wait?: "available" | "deleted"; include?: string[]; signal?: AbortSignal },
  ): Promise<Document>;
  delete(id: string): Promise<void>;
}

/** One kind of resource. */
export interface Kind<Document extends SingleDocument<Named>> {
  /** What people call one, such as `cache`, and several. */
  noun: string;
  plural: string;
  /** Longer than names may be, so that no name looks like an id. */
  idPattern: RegExp;
  /** Related resources that people are shown along with one. */
  include?: string[];
  /** How to see, later, what became of one. */
  showCommand(id: string): string;
  /** How to wait for one, later, where a command of its own can. */
  waitAgain?(id: string): string;
  requests(client: PilviClient): Requests<Document>;
}

/** A kind with what makes it readable in a terminal. */
export interface ShownKind<Document extends SingleDocument<Named>> extends Kind<Document> {
  /** The group of commands, such as `caches`. */
  group: string;
  /** Heads and cells of a list. */
  columns: string[];
  cells(resource: Document["data"]): string[];
  /** Everything worth knowing about one, as lines. */
  details(document: Document): string;
  /** A line to copy for a first try; empty where there can be none. */
  firstTry(document: Document): string;
}

/** What people know a resource by, such as `the cache sessions`. */
export function nameOf(kind: { noun: string }, { attributes }: Named): string {
  return `the ${kind.noun} ${attributes.name}`;
}
