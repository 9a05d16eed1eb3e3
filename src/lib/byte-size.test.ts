// Tests of amounts of bytes as text.
import { expect, test } from "bun:test";
import { byteSizeText, parseByteSize } from "./byte-size.ts";

test.each([
  ["0", 0],
  ["1048576", 1024 ** 2],
  ["250mb", 250 * 1024 ** 2],
  ["2.5GB", 2.5 * 1024 ** 3],
  ["16tb", 16 * 1024 ** 4],
])("%s is %d bytes", (text, bytes) => {
  expect(parseByteSize(text)).toBe(bytes);
});

test.each(["", "mb", "-1", "1pb", "1 gb", "1e9", ".5gb", "9999999999tb"])("%p is refused", (text) => {
  expect(parseByteSize(text)).toBeUndefined();
});

test.each([
  [0, "0b"],
  [1023, "1023b"],
  [250 * 1024 ** 2, "250mb"],
  [1.5 * 1024 ** 3, "1.5gb"],
  [5_000 * 1024 ** 4, "5000tb"],
])("%d bytes read %s", (bytes, text) => {
  expect(byteSizeText(bytes)).toBe(text);
});
