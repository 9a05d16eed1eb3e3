// The search parameters of the debug page.
import { type RawSearch, textIn } from "../../../console/parts/page.tsx";
import { type Group, groups } from "./debug-text.ts";

/** The search and the filter, which live in the address. */
export interface DebugSearch {
  q?: string | undefined;
  show?: Group | undefined;
}

export function parseDebugSearch(raw: RawSearch): DebugSearch {
  const [q, show] = [textIn(raw, "q"), textIn(raw, "show")];
  return {
    ...(q !== undefined && { q }),
    ...(show !== undefined && show in groups && { show: show as Group }),
  };
}
