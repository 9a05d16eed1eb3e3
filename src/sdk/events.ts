// The operations on the events of the organization's resources.
import type { EventResource, EventResourceType, EventType } from "../resources/shared/event-schema.ts";
import type { Connection } from "./connection.ts";
import { followMessages } from "./follow.ts";

/** A page of events, the newest first. */
export interface EventPage {
  data: EventResource[];
  /** Absolute; `next` is absent on the last page. */
  links: { first: string; next?: string };
  meta: { per_page: number; next_cursor: string | null };
}

/** A filter of events; several values are allowed where there is a list. */
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
const MAX_PER_PAGE = 100;

export class Events {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads one page, the newest events by default. @param options.cursor `meta.next_cursor` of the former page. */
  async list(options: { filter?: EventFilter; cursor?: string; perPage?: number } = {}): Promise<EventPage> {
    const { filter = {}, cursor, perPage } = options;
    const query = queryOf(filter);
    if (cursor !== undefined) query.set("page[cursor]", cursor);
    if (perPage !== undefined) query.set("per_page", String(perPage));
    return await this.#connection.send<EventPage>({ method: "GET", path: PATH, query });
  }

  /**
   * Yields events as they are committed, each once, over lost connections, until the signal is aborted.
   * @param options.latest how many of the latest events that match the filter are yielded first, in their order.
   * @param options.after the id of an event to continue after, in place of the present moment.
   * @param options.onPosition called with the id of the latest event when a connection opens, and when only events that
   * are not yielded came.
   * @throws PilviError when Pilvi refuses, such as a revoked token; PilviUnreachable when it never answers.
   */
  async *follow(
    options: {
      filter?: EventFilter;
      latest?: number;
      after?: string;
      signal?: AbortSignal;
      onPosition?: (id: string) => void;
    } = {},
  ): AsyncGenerator<EventResource, void> {
    const { filter = {}, latest = 0, signal } = options;
    let earlier = latest;
    const known = new Set<string>();
    const query = (after: string | undefined) => followQuery(filter, after);
    const messages = followMessages(this.#connection, { path: PATH, query, after: options.after, signal });
    for await (const { id, isEvent, data } of messages) {
      if (!isEvent && id !== undefined) options.onPosition?.(id);
      // The stream misses no event from here on, so earlier events can be listed now.
      for (const event of earlier > 0 ? await this.#latest(filter, earlier) : []) {
        known.add(event.id);
        yield event;
      }
      earlier = 0;
      if (isEvent && !known.delete(id ?? "")) yield JSON.parse(data) as EventResource;
    }
  }

  async #latest(filter: EventFilter, count: number): Promise<EventResource[]> {
    const events: EventResource[] = [];
    for await (const event of this.all({ filter, perPage: Math.min(count, MAX_PER_PAGE) })) {
      if (events.push(event) === count) break;
    }
    return events.toReversed();
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

/** A span of time does not apply to future events. */
function followQuery({ since: _since, until: _until, ...filter }: EventFilter, after: string | undefined) {
  const query = queryOf(filter);
  query.set("follow", "true");
  if (after !== undefined) query.set("after", after);
  return query;
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
