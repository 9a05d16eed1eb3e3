// What the address of the page of a database cluster holds.
import { type MetricsSearch, parseMetricsSearch } from "../../../console/parts/charts/period.ts";
import { type RawSearch, textIn } from "../../../console/parts/page.tsx";

export interface DatabaseSearch extends MetricsSearch {
  /** Part of the names of the databases that are shown, or the id of a database. */
  q: string | undefined;
  /** The status of the databases that are shown. */
  status: string | undefined;
}

export function parseDatabaseSearch(raw: RawSearch): DatabaseSearch {
  return { ...parseMetricsSearch(raw), q: textIn(raw, "q"), status: textIn(raw, "status") };
}
