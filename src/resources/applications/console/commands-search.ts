// What the address of the page of commands holds.
import { type RawSearch, textIn } from "../../../console/parts/page.tsx";

export interface CommandsSearch {
  /** Part of the commands that are shown. */
  q: string | undefined;
  /** A state in a word, such as `failed`. */
  status: string | undefined;
}

export function parseCommandsSearch(raw: RawSearch): CommandsSearch {
  return { q: textIn(raw, "q"), status: textIn(raw, "status") };
}
