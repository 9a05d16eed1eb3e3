// What the address of the page of variables holds.
import { type RawSearch, textIn } from "../../../console/parts/page.tsx";

export interface VariablesSearch {
  /** Part of the names that are shown. */
  q: string | undefined;
}

export function parseVariablesSearch(raw: RawSearch): VariablesSearch {
  return { q: textIn(raw, "q") };
}
