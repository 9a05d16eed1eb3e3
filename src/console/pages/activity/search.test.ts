// What the page of activity takes out of its address.
import { expect, test } from "bun:test";
import { parseActivitySearch } from "./search.ts";

test("kinds with an underscore are kept, and what is no word is dropped", () => {
  expect(parseActivitySearch({ kind: "cache_snapshots", action: "cancel-query" })).toMatchObject({
    kind: "cache_snapshots",
    action: "cancel-query",
  });
  expect(parseActivitySearch({ kind: "a b", action: "1" })).toMatchObject({
    kind: undefined,
    action: undefined,
  });
});
