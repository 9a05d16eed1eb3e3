// What the address of the page of a WebSocket cluster holds.
import { type MetricsSearch, parseMetricsSearch } from "../../../console/parts/charts/period.ts";
import { type RawSearch, textIn } from "../../../console/parts/page.tsx";

export interface WebsocketSearch extends MetricsSearch {
  /** The id of the chosen application, whose metrics are shown; those of the whole cluster when left out. */
  application: string | undefined;
  /** Part of the names of the applications that are shown, or the id or key of an application. */
  q: string | undefined;
}

export function parseWebsocketSearch(raw: RawSearch): WebsocketSearch {
  return { ...parseMetricsSearch(raw), application: textIn(raw, "application"), q: textIn(raw, "q") };
}
