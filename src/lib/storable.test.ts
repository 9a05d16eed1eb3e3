// Foreign texts in the form that the store takes.
import { expect, test } from "bun:test";
import { isStorable, storable, storableText } from "./storable.ts";

test("a text loses its zeros, and halves of characters are replaced", () => {
  expect(storableText("a\0b\ud800c 🙂")).toBe("ab\ufffdc 🙂");
  expect(storableText("\ud83d\0\ude42")).toBe("🙂");
});

test("a text that is cut through a character is well formed", () => {
  expect(storableText("ab🙂", 3)).toBe("ab\ufffd");
  expect(storableText("ab🙂", 4)).toBe("ab🙂");
});

test("texts and names of members are replaced at every depth, and all else is kept", () => {
  const at = new Date(0);
  const given = { "na\0me": ["\ud800", 1, null, { text: "a\0" }], isKept: true, missing: undefined, at };
  expect(storable(given)).toEqual({
    name: ["\ufffd", 1, null, { text: "a" }],
    isKept: true,
    missing: undefined,
    at,
  } as never);
});

test("a text is storable without zeros and halves of characters alone", () => {
  expect(["Größe 🙂", "", "a\0", "\ud83d"].map(isStorable)).toEqual([true, true, false, false]);
});
