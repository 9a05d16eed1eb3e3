// What the address of the page of a cache's keys holds: a pattern, a type, and the key that is shown.
import { type RawSearch, textIn } from "../../../console/parts/page.tsx";

/** The types of keys that the list can be filtered by. */
export const KEY_TYPES = ["string", "list", "set", "zset", "hash", "stream"] as const;

export interface KeysSearch {
  match: string | undefined;
  type: (typeof KEY_TYPES)[number] | undefined;
  key: string | undefined;
  /** `base64` for a key that is no text. */
  encoding: "base64" | undefined;
}

export function parseKeysSearch(raw: RawSearch): KeysSearch {
  const type = textIn(raw, "type");
  return {
    match: textIn(raw, "match"),
    type: KEY_TYPES.find((each) => each === type),
    key: textIn(raw, "key"),
    encoding: textIn(raw, "encoding") === "base64" ? "base64" : undefined,
  };
}
