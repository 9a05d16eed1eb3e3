// The script between two states of the rules has what differs, and nothing else; and no user fills the sets of all users.
import { expect, test } from "bun:test";
import { changeScript, wholeScript, type Rules } from "./ruleset.ts";

const FORMER: Rules = {
  table: "pilvi_test",
  reserved: [{ first: 20_000, last: 29_999 }],
  uids: [30_005, 30_006],
  reached: [[30_005, 20_000]],
  owned: [[30_005, 20_001]],
  open: [80],
};

test("the same rules need no script, in whatever order and number their elements come", () => {
  expect(changeScript(FORMER, { ...FORMER, uids: [30_006, 30_005, 30_006] })).toBe("");
});

test("elements go before others come, so that a port can pass from a user to another", () => {
  const owned = [
    [30_006, 20_001],
    [30_006, 20_002],
  ] as const;
  expect(changeScript(FORMER, { ...FORMER, owned, open: [80, 443] })).toBe(
    [
      "delete element inet pilvi_test owned { 30005 . 20001 }",
      "add element inet pilvi_test owned { 30006 . 20001, 30006 . 20002 }",
      "add element inet pilvi_test open { 443 }",
      "",
    ].join("\n"),
  );
});

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? Number.NaN);
}

test.each(["opening4", "opening_by4", "refused4", "opening6", "opening_by6", "refused6"])(
  "one user has less than a hundredth of the set %s, however fast it opens connections",
  (name) => {
    const script = wholeScript(FORMER);
    const set = new RegExp(`set ${name} .*`).exec(script)?.[0] ?? "";
    const seconds = numberIn(set, / timeout (\d+)s/) + numberIn(set, /gc-interval (\d+)s/);
    const rate = numberIn(script, /rate over (\d+)\/second/);
    const burst = numberIn(script, /burst (\d+) packets/);
    expect((burst + rate * seconds) * 100).toBeLessThan(numberIn(set, /size (\d+)/));
  },
);
