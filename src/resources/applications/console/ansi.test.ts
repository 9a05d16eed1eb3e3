// Tests the output of commands as the console shows it.
import { expect, test } from "bun:test";
import { lastLines, spansOf } from "./ansi.ts";

const ESC = "\u001b";

test("colours and bold text become spans", () => {
  expect(spansOf(`a ${ESC}[1;31mred${ESC}[0m b ${ESC}[92mgreen${ESC}[39m c`)).toEqual([
    { text: "a ", look: "plain", isBold: false },
    { text: "red", look: "bad", isBold: true },
    { text: " b ", look: "plain", isBold: false },
    { text: "green", look: "good", isBold: false },
    { text: " c", look: "plain", isBold: false },
  ]);
});

test("the numbers of a colour of many are no codes", () => {
  expect(spansOf(`${ESC}[38;5;31mx${ESC}[38;2;1;31;32my`).map(({ look, isBold }) => [look, isBold])).toEqual([
    ["plain", false],
    ["plain", false],
  ]);
});

test("movements, titles and other sequences are left out", () => {
  const text = `${ESC}]0;title\u0007a${ESC}[2K${ESC}[1Gb${ESC}[?25lc`;
  expect(spansOf(text).map((span) => span.text)).toEqual(["a", "b", "c"]);
});

test("a line that was written over shows what stood there last", () => {
  expect(spansOf("10 %\r50 %\r100 %\nready\r\nend\r").map((span) => span.text)).toEqual([
    "100 %\nready\nend\r",
  ]);
});

test("the end of a long output is kept, with the number of lines before it", () => {
  expect(lastLines("1\n2\n3\n", 2)).toEqual({ text: "2\n3", left: 1 });
  expect(lastLines("1\n2\n", 2)).toEqual({ text: "1\n2", left: 0 });
});
