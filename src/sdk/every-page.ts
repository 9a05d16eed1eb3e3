// Reads lists with numbered pages to their end.
import type { Connection } from "./connection.ts";
import type { PageDocument } from "./documents.ts";

/** All resources of a list. @param path below the API root. */
export async function* everyPage<Resource>(connection: Connection, path: string): AsyncGenerator<Resource> {
  let last = 1;
  for (let page = 1; page <= last; page++) {
    const query = new URLSearchParams({ page: String(page) });
    const { data, meta } = await connection.send<PageDocument<Resource>>({ method: "GET", path, query });
    yield* data;
    last = meta.last_page;
  }
}
