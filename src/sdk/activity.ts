// The operations on the activity of an organization: who changed what.
import type { ActivityResource } from "../resources/activity/schema.ts";
import type { Connection } from "./connection.ts";

/** A page of activity, the newest first. */
export interface ActivityPage {
  data: ActivityResource[];
  /** Absolute; `next` is absent on the last page. */
  links: { first: string; next?: string };
  meta: { per_page: number; next_cursor: string | null };
}

/** A filter of activity; several values are allowed where there is a list. */
export interface ActivityFilter {
  action?: readonly string[];
  kind?: readonly string[];
  /** Ids, also of resources that are deleted. */
  resource?: readonly string[];
  /** ISO 8601. */
  since?: string;
  until?: string;
}

export class Activity {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads one page, the newest by default. @param options.cursor `meta.next_cursor` of the former page. */
  async list(
    options: { filter?: ActivityFilter; cursor?: string; perPage?: number } = {},
  ): Promise<ActivityPage> {
    const { filter = {}, cursor, perPage } = options;
    const query = new URLSearchParams();
    const lists = { action: filter.action, kind: filter.kind, resource: filter.resource };
    for (const [name, values] of Object.entries(lists)) {
      if (values !== undefined) query.set(`filter[${name}]`, values.join(","));
    }
    if (filter.since !== undefined) query.set("filter[since]", filter.since);
    if (filter.until !== undefined) query.set("filter[until]", filter.until);
    if (cursor !== undefined) query.set("page[cursor]", cursor);
    if (perPage !== undefined) query.set("per_page", String(perPage));
    return await this.#connection.send<ActivityPage>({ method: "GET", path: "/activity", query });
  }

  /** Reads all activity, over all pages, the newest first. */
  async *all(options: { filter?: ActivityFilter; perPage?: number } = {}): AsyncGenerator<ActivityResource> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await this.list({ ...options, ...(cursor !== undefined && { cursor }) });
      yield* page.data;
      cursor = page.meta.next_cursor;
    }
  }
}
