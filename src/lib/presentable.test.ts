// Texts of customers in sentences: short, and without characters that a terminal obeys.
import { expect, test } from "bun:test";
import { presentable, presentableSentence } from "./presentable.ts";

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
