// Which entries the text of a query selects.
import { expect, test } from "bun:test";
import { selectionOf } from "./selection.ts";

const has = (text: string, m: string) =>
  selectionOf({ text, isWholeWord: true, isCaseSensitive: true, limit: 1 })({
    t: 0,
    l: "info",
    y: "application",
    m,
  });

const isPart = (character: string | undefined) => character === "a" || character === "é";

const isThere = (text: string, m: string) =>
  [...m].some((_, at) => m.startsWith(text, at) && !isPart(m[at - 1]) && !isPart(m[at + text.length]));

/** All texts of these characters, up to a length. */
function textsOf(characters: string, length: number): string[] {
  if (length === 0) return [""];
  const shorter = textsOf(characters, length - 1);
  return [...new Set([...shorter, ...shorter.flatMap((text) => [...characters].map((each) => text + each))])];
}

test("a whole word is found wherever no characters of a word are beside it", () => {
  for (const text of textsOf("aé-", 3).slice(1))
    for (const m of textsOf("aé-", 6)) expect([text, m, has(text, m)]).toEqual([text, m, isThere(text, m)]);
});

test("a word that overlaps itself is found at the end of a long line of its characters", () => {
  const line = `${"-a".repeat(30_000)}-a-a `;
  expect([has("a-a", line), has("-a-b", line), has("a".repeat(200), "a".repeat(60_000))]).toEqual([
    true,
    false,
    false,
  ]);
});
