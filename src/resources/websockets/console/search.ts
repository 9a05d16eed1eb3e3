// What the address of the page of a WebSocket cluster holds.
import { type MetricsSearch, parseMetricsSearch } from "../../../console/parts/charts/period.ts";
import { type RawSearch, textIn } from "../../../console/parts/page.tsx";

export interface WebsocketSearch extends MetricsSearch {
  /** The id of the application whose metrics are shown; those of the whole cluster when left out. */
  application: string | undefined;
}

export function parseWebsocketSearch(raw: RawSearch): WebsocketSearch {
  return { ...parseMetricsSearch(raw), application: textIn(raw, "application") };
}
