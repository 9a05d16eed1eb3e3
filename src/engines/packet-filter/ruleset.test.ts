// The script between two states of the rules has what differs, and nothing else.
import { expect, test } from "bun:test";
import { changeScript, type Rules } from "./ruleset.ts";

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
