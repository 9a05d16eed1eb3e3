// The kinds of channels by their names: prefixes are anchored, and cache variants inherit the rest of their kind.
import { describe, expect, test } from "bun:test";
import { channelKindOf } from "./channel-name.ts";

/** The properties of a kind, as words. */
function wordsOf(name: string): string[] | null {
  const kind = channelKindOf(name);
  if (kind === null) return null;
  return Object.entries({
    private: kind.isPrivate,
    presence: kind.isPresence,
    encrypted: kind.isEncrypted,
    cache: kind.isCache,
  }).flatMap(([word, isTrue]) => (isTrue ? [word] : []));
}

describe("a channel's name", () => {
  test.each([
    ["a", []],
    ["private-a", ["private"]],
    ["presence-a", ["private", "presence"]],
    ["private-encrypted-a", ["private", "encrypted"]],
    ["cache-a", ["cache"]],
    ["private-cache-a", ["private", "cache"]],
    ["presence-cache-a", ["private", "presence", "cache"]],
    ["private-encrypted-cache-a", ["private", "encrypted", "cache"]],
    ["private-encrypted", ["private"]],
    ["private-cache", ["private"]],
    ["presence-encrypted-a", ["private", "presence"]],
    ["presence-private-a", ["private", "presence"]],
    ["cache-private-a", ["cache"]],
    ["cache-presence-a", ["cache"]],
    ["private", []],
    ["privatea", []],
    ["presence", []],
    ["cache", []],
    ["cachea", []],
    ["PRIVATE-a", []],
    ["xprivate-a", []],
    ["-private-a", []],
    ["a-cache-a", []],
  ])("%p means %p", (name, words) => expect(wordsOf(name)).toEqual(words));

  test.each(["", " ", "a ", "a\n", "a/b", "a:b", "a#", "#a", "#", "ä", "a\u0000", "😀", "a".repeat(201)])(
    "cannot be %p",
    (name) => expect(channelKindOf(name)).toBeNull(),
  );

  test("may be the name of a user's own channel", () => {
    expect(channelKindOf("#server-to-user-ann & bob")?.userId).toBe("ann & bob");
    expect(channelKindOf("#server-to-user-ann")?.isPrivate).toBeTrue();
    expect(channelKindOf("#server-to-user-")).toBeNull();
    expect(channelKindOf("#server-to-user")).toBeNull();
    expect(channelKindOf("a")?.userId).toBeNull();
  });

  test("may have 200 characters", () => expect(channelKindOf("a".repeat(200))).not.toBeNull());
});
