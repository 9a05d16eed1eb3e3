// No byte that another person chose moves the cursor of a reader.
import { expect, test } from "bun:test";
import { printable } from "./printable.ts";

test("control characters are escaped, and ordinary texts are left alone", () => {
  expect(printable("\u001b]0;pwned\u0007\u001b[2J\r\u009bA\u202e")).toBe(
    String.raw`\u001b]0;pwned\u0007\u001b[2J\u000d\u009bA\u202e`,
  );
  expect(printable("Größe 🙂 👩‍💻\n\tnext")).toBe("Größe 🙂 👩‍💻\n\tnext");
});

test("a JSON text means the same afterwards", () => {
  const value = { message: "\u001b[2J\u009b\u007f\u202e" };
  expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
});
