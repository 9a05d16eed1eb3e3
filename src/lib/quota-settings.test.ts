// The quota of ports follows from the range of ports.
import { expect, test } from "bun:test";
import { z } from "zod";
import { quotaFields, quotaSettings } from "./quota-settings.ts";

const quotasOf = (env: Record<string, string>, last: number) =>
  quotaSettings(z.object(quotaFields).parse(env), { first: 21_000, last });

test("by default a family of organizations may have half of the ports", () => {
  expect(quotasOf({}, 30_999).ports).toBe(5_000);
  expect(quotasOf({}, 21_006).ports).toBe(4);
  expect(quotasOf({}, 21_000).ports).toBe(1);
});

test("another number of ports can be set, and 0 is no limit", () => {
  expect(quotasOf({ PILVI_QUOTA_PORTS: "7" }, 30_999).ports).toBe(7);
  expect(quotasOf({ PILVI_QUOTA_PORTS: "0" }, 30_999).ports).toBe(0);
});
