// The HMAC equals that of other implementations for any text.
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { hmacHex } from "./hmac.ts";

function expected(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

test("the digest of test case 2 of RFC 4231 is right", () => {
  const digest = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
  expect(hmacHex("Jefe", "what do ya want for nothing?")).toBe(digest);
});

test.each([
  ["nothing", "secret", ""],
  ["an empty secret", "", "text"],
  ["text beyond ASCII", "sëcret 🐻", "moi 🐻‍❄️ 東京"],
  ["a secret of a whole block", "s".repeat(64), "text"],
  ["a longer secret", "s".repeat(65), "text"],
  ["a secret that is longer in bytes than in characters", "ä".repeat(40), "text"],
  ["the longest text that is quick", "secret", "🐻".repeat(512)],
  ["characters of three bytes each", "secret", "東".repeat(1_024)],
  ["a longer text", "secret", "x".repeat(1_025)],
  ["half of a surrogate pair", "secret", "\uD800"],
])("%s", (_, secret, text) => {
  expect(hmacHex(secret, text)).toBe(expected(secret, text));
  expect(hmacHex(secret, text)).toBe(expected(secret, text));
});

test("more secrets than are kept make right digests, and again in a second round", () => {
  for (const round of [1, 2]) {
    for (let index = 0; index < 1_500; index += 1)
      expect(hmacHex(`s${index}`, `${round}`)).toBe(expected(`s${index}`, `${round}`));
  }
});
