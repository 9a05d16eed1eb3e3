// The policy of the edge for a new environment.
import { expect, test } from "bun:test";
import { USUAL_POLICY } from "../../../engines/haproxy/policy.ts";
import { policyOf } from "./policy.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

test("the policy of a new environment is the usual policy, whose rules cost least", () => {
  expect(policyOf(DEFAULT_SETTINGS)).toEqual(USUAL_POLICY);
});
