// What of secrets is left in a text, and how long that takes for values that customers choose.
import { expect, spyOn, test } from "bun:test";
import { partsRedactor, redactor } from "./redaction.ts";

test.each([
  ["a value", ["hush-hush"], "say hush-hush", "say [secret]"],
  ["values side by side", ["hush", "tell"], "hushtell", "[secret][secret]"],
  ["values that overlap", ["abcde", "defgh"], "(abcdefgh)", "([secret])"],
  ["a value within another", ["abcd", "xxabcdxx"], "xxabcdxx abcd", "[secret] [secret]"],
  ["the beginning of a value alone", ["abcdef"], "abcde", "abcde"],
  ["the ending of a value after its beginning", ["aabaab"], "aabaaabaab", "aaba[secret]"],
  ["a line of a value", ["first line\nsecond line"], "a second line", "a [secret]"],
  ["a short value", ["abc", "", "  "], "abc", "abc"],
  ["letters beyond ASCII", ["pässwörd-🔑"], "=pässwörd-🔑=", "=[secret]="],
])("%s", async (_, secrets, text, shown) => {
  expect(await redactor(secrets)(text)).toBe(shown);
  const inParts = (await partsRedactor(secrets))();
  const parts = Array.from(text, (part) => inParts.add(part));
  expect(parts.join("") + inParts.end()).toBe(shown);
});

test.each([1, 7, 5_000])(
  "a text in parts of %d characters loses the same values as the whole",
  async (length) => {
    // The values overlap each other over more than is held back.
    const secrets = ["abab", "babababa", "x-y-z-".repeat(30)];
    const text = `${"ab".repeat(9_000)} plain ${"x-y-z-".repeat(1_000)} plain ${"q".repeat(10_000)}abab abab`;
    const inParts = (await partsRedactor(secrets))();
    let shown = "";
    for (let at = 0; at < text.length; at += length) shown += inParts.add(text.slice(at, at + length));
    shown += inParts.end();
    expect(shown).toBe(await redactor(secrets)(text));
    expect(shown).toBe(`[secret] plain [secret] plain ${"q".repeat(10_000)}[secret] [secret]`);
  },
);

test("a part of a long value, which a log cuts, shows little of it", async () => {
  const value = Array.from({ length: 2_000 }, (_, index) => index.toString(36)).join("-");
  const shown = await redactor([value])(`value: ${value}`.slice(0, 4_096));
  expect(shown.replaceAll("[secret]", "").length).toBeLessThan("value: ".length + 64);
});

test("thousands of values take no longer than one", async () => {
  const values = Array.from({ length: 26_000 }, (_, index) => index.toString(36).padStart(4, "#"));
  const redacted = redactor(values);
  const startedMs = performance.now();
  for (let line = 0; line < 16_000; line += 1) await redacted("a line of an output without any value");
  // It took 20 seconds when each value was looked for by itself.
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});

/** As many bytes as the variables of an environment may have, in values that share no beginnings. */
const FULL = Array.from({ length: 500 }, (_, index) => {
  let state = index + 1;
  // A generator of random numbers whose values are the same in each run.
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  return Array.from({ length: 262 }, () => String.fromCharCode(33 + ((next() >>> 16) % 90))).join("");
});

test("values are not looked at before there is a text", async () => {
  const secrets = [...FULL];
  const looks = spyOn(secrets, "flatMap");
  const redacted = redactor(secrets);
  expect(looks).toHaveBeenCalledTimes(0);
  expect(await redacted(`a ${FULL[7]} b`)).toBe("a [secret] b");
  await redacted("another text");
  expect(looks).toHaveBeenCalledTimes(1);
});

test("the event loop has turns while the words of many values are prepared", async () => {
  let turns = 0;
  let isReady = false;
  const count = () => {
    turns += 1;
    if (!isReady) setImmediate(count);
  };
  setImmediate(count);
  await partsRedactor(FULL);
  isReady = true;
  expect(turns).toBeGreaterThan(50);
});
