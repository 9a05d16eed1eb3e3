// The operations on what an organization uses.
import type { UsageMeta, UsageResource } from "../resources/shared/usage-schema.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument } from "./documents.ts";

/** A page of a month's resources, with the totals over all pages. */
export type UsagePage = PageDocument<UsageResource> & { meta: UsageMeta };

/** What usage is asked for; several values are allowed where there is a list. */
export interface UsageFilter {
  /** Such as `2026-11`, in UTC; the present month when left out. */
  month?: string;
  /** Ids, also of resources that are deleted. */
  resource?: readonly string[];
  kind?: readonly UsageResource["attributes"]["kind"][];
}

const PATH = "/usage";

export class UsageClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads one page, the oldest resources first. */
  async list(options: { filter?: UsageFilter; page?: number; perPage?: number } = {}): Promise<UsagePage> {
    const { filter = {}, page, perPage } = options;
    const query = queryOf(filter);
    if (page !== undefined) query.set("page", String(page));
    if (perPage !== undefined) query.set("per_page", String(perPage));
    return await this.#connection.send<UsagePage>({ method: "GET", path: PATH, query });
  }

  /** Reads all pages of a month. */
  async *pages(filter: UsageFilter = {}): AsyncGenerator<UsagePage, void> {
    for (let page = 1, last = 1; page <= last; page++) {
      const document = await this.list({ filter, page });
      last = document.meta.last_page;
      yield document;
    }
  }

  /** The month as a table in CSV, as it comes. */
  async csv(filter: UsageFilter = {}): Promise<ReadableStream<Uint8Array>> {
    const query = queryOf(filter);
    query.set("format", "csv");
    return await this.#connection.open({ method: "GET", path: PATH, query });
  }
}

function queryOf({ month, resource, kind }: UsageFilter): URLSearchParams {
  const members = { month, "filter[resource]": resource?.join(","), "filter[kind]": kind?.join(",") };
  const given = Object.entries(members).filter(
    (member): member is [string, string] => member[1] !== undefined,
  );
  return new URLSearchParams(given);
}
