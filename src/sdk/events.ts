// The operations on events: what happened to the resources of the organization.
import type { EventResource, EventResourceType, EventType } from "../resources/shared/event-schema.ts";
import type { Connection } from "./connection.ts";

/** A page of events, the newest first. */
export interface EventPage {
  data: EventResource[];
  /** Absolute; `next` is absent on the last page. */
  links: { first: string; next?: string };
  meta: { per_page: number; next_cursor: string | null };
}

/** Which events are wanted; several values are allowed where there is a list. */
export interface EventFilter {
  type?: readonly EventType[];
  resourceType?: readonly EventResourceType[];
  /** Ids, also of resources that are deleted. */
  resource?: readonly string[];
  /** ISO 8601. */
  since?: string;
  until?: string;
}

const PATH = "/events";

export class Events {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads one page, the newest events by default. @param options.cursor `meta.next_cursor` of the page before. */
  async list(options: { filter?: EventFilter; cursor?: string; perPage?: number } = {}): Promise<EventPage> {
    const { filter = {}, cursor, perPage } = options;
    const query = queryOf(filter);
    if (cursor !== undefined) query.set("page[cursor]", cursor);
    if (perPage !== undefined) query.set("per_page", String(perPage));
    return await this.#connection.send<EventPage>({ method: "GET", path: PATH, query });
  }

  /** Reads all events, over all pages, the newest first. */
  async *all(options: { filter?: EventFilter; perPage?: number } = {}): AsyncGenerator<EventResource> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await this.list({ ...options, ...(cursor !== undefined && { cursor }) });
      yield* page.data;
      cursor = page.meta.next_cursor;
    }
  }
}

function queryOf({ type, resourceType, resource, since, until }: EventFilter): URLSearchParams {
  const members = {
    "filter[type]": type?.join(","),
    "filter[resource_type]": resourceType?.join(","),
    "filter[resource]": resource?.join(","),
    "filter[since]": since,
    "filter[until]": until,
  };
  const given = Object.entries(members).filter(
    (member): member is [string, string] => member[1] !== undefined,
  );
  return new URLSearchParams(given);
}
