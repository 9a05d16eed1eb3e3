// What the address of a list holds: search and filters.
import { type RawSearch, textIn } from "./page.tsx";

export interface ListSearch {
  q: string | undefined;
  status: string | undefined;
  type: string | undefined;
  region: string | undefined;
}

export function parseListSearch(raw: RawSearch): ListSearch {
  return {
    q: textIn(raw, "q"),
    status: textIn(raw, "status"),
    type: textIn(raw, "type"),
    region: textIn(raw, "region"),
  };
}
