// The properties of a kind that the shared commands use.
import type { PageDocument, PilviClient, SingleDocument } from "../../sdk/index.ts";

/** The parts of a named thing that those commands look at. */
export interface Named {
  id: string;
  attributes: { name: string };
}

/** The parts of a thing with a status of its own, which can therefore be waited for. */
export interface Resource extends Named {
  attributes: { name: string; status: string };
  /** Absent for a thing without work of its own, such as a database in a cluster. */
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
  /** The noun for people, such as `cache`, and its plural. */
  noun: string;
  plural: string;
  /** Longer than names may be, so that no name looks like an id. */
  idPattern: RegExp;
  /** Other unique names of a resource than its id, such as a slug. */
  aliases?(resource: Document["data"]): string[];
  /** Related resources that are shown together with the resource. */
  include?: string[];
  /** The command that shows the resource later. */
  showCommand(id: string): string;
  /** The command that waits for the resource later, for kinds that have such a command. */
  waitAgain?(id: string): string;
  requests(client: PilviClient): Requests<Document>;
}

/** A kind with its texts for a terminal. */
export interface ShownKind<Document extends SingleDocument<Named>> extends Kind<Document> {
  /** The group of commands, such as `caches`. */
  group: string;
  /** Heads and cells of a list. */
  columns: string[];
  cells(resource: Document["data"]): string[];
  /** Each property of a resource, as lines. */
  details(document: Document): string;
  /** A line to copy for a first try; empty where no try is possible. */
  firstTry(document: Document): string;
}

/** The name of a resource for people, such as `the cache sessions`. */
export function nameOf(kind: { noun: string }, { attributes }: Named): string {
  return `the ${kind.noun} ${attributes.name}`;
}
