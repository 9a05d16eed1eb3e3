// Names and values as text: cut at whole characters, and in base64 where they are no text.
import { expect, test } from "bun:test";
import { keyText } from "./text.ts";

test("a text is cut at a whole character", () => {
  expect(keyText(Buffer.from("aé€😀"), 8)).toEqual({
    text: "aé€",
    encoding: "utf8",
    bytes: 10,
    is_cut: true,
  });
});

test("bytes that are no text stand in base64, cut or not", () => {
  const bytes = Buffer.from([255, 254, 253, 252, 251, 250]);
  expect(keyText(bytes, 6)).toEqual({ text: "//79/Pv6", encoding: "base64", bytes: 6, is_cut: false });
  expect(keyText(bytes, 3)).toEqual({ text: "//79", encoding: "base64", bytes: 6, is_cut: true });
});
