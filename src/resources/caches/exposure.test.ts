// The networks that reach a cache, and its idle time before it sleeps.
import { expect, test } from "bun:test";
import { exposureOf, sleepAfterSecondsOf } from "./exposure.ts";

test.each([
  [false, false, "loopback", "engine", null],
  [true, false, "public", "gateway", null],
  [false, true, "loopback", "gateway", 540],
  [true, true, "public", "gateway", 540],
] as const)(
  "public %p and hibernating %p: %s, through the %s",
  (isPublic, usesHibernation, scope, through, seconds) => {
    const cache = { port: 20_000, isPublic, usesHibernation, hibernationTimeout: 9 };
    expect(exposureOf(cache)).toEqual({ port: 20_000, scope, through });
    expect(sleepAfterSecondsOf(cache)).toBe(seconds);
  },
);
