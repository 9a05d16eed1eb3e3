// What the address of the page of a new background process holds.
import { type RawSearch, textIn } from "../../../console/parts/page.tsx";

export interface ProcessSearch {
  /** The id of the instance that gets the process. */
  instance: string | undefined;
}

export function parseProcessSearch(raw: RawSearch): ProcessSearch {
  return { instance: textIn(raw, "instance") };
}
