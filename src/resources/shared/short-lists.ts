// Pages of lists that are bounded and so short that they are read whole.
import { pageDocument, pageOf } from "../../api/jsonapi/pagination.ts";

/** @param query as validated by `pageQuery`. @param rows the whole list. */
export function pageOfAll<Row, Resource>(
  url: URL,
  query: Parameters<typeof pageOf>[0],
  rows: readonly Row[],
  render: (row: Row) => Resource,
) {
  const page = pageOf(query);
  const first = (page.number - 1) * page.size;
  return pageDocument(url, page, rows.length, rows.slice(first, first + page.size).map(render));
}
