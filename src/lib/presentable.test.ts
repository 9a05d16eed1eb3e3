// Texts of customers in sentences: short, and without characters that a terminal obeys.
import { expect, test } from "bun:test";
import { presentable, presentableSentence, shortenedSentence } from "./presentable.ts";

test("control characters, invisible ones and halves of characters are replaced", () => {
  expect(presentable("\u001b]0;title\u0007\u001b[2J")).toBe("?]0;title??[2J");
  expect(presentable("a\nb\u202ec\u2028d\u009be")).toBe("a?b?c?d?e");
  expect(presentable("\ud800 Größe 🙂")).toBe("\ufffd Größe 🙂");
});

test("a name is cut to its limit, and a sentence that was cut ends with an ellipsis", () => {
  expect(presentable("x".repeat(70_000_000))).toHaveLength(128);
  expect(presentable("abc", 2)).toBe("ab");
  expect(presentableSentence("x".repeat(70_000_000))).toHaveLength(513);
  expect(presentableSentence("The disk is full.")).toBe("The disk is full.");
  expect(presentableSentence("The 🙂 is full.", 5)).toBe("The \ufffd…");
});

test("of the output after a sentence, the newest lines stay", () => {
  const lines = Array.from({ length: 20 }, (_, line) => `${line} ${"x".repeat(60)}`);
  const shown = presentableSentence(["It ended. Its last lines:", ...lines, "FATAL: no database"].join("\n"));
  expect(shown).toStartWith(`It ended. Its last lines:\n…\n13 ${"x".repeat(60)}\n`);
  expect(shown).toEndWith("\nFATAL: no database");
  expect(shown.length).toBeLessThanOrEqual(513);
  // The journal cuts it once more.
  expect(presentableSentence(shown, 100)).toBe(`It ended. Its last lines:\n…\nFATAL: no database`);
  expect(shortenedSentence("It ended:\nabc\ndef", 16)).toBe("It ended:\n…\ndef");
});

test("of a last line that is too long by itself, the beginning stays", () => {
  const line = `FATAL: ${"x".repeat(2_000)}`;
  const shown = presentableSentence(`It ended:\nfirst\n${line}`);
  expect(shown).toBe(`It ended:\n${line.slice(0, 502)}…`);
  expect(shown).toHaveLength(513);
  expect(shortenedSentence("It ended:\nabc", 10)).toBe("It ended:\n…");
});
