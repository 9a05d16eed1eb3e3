// The time that `pilvi up` leaves to the host when it stops.
import { expect, test } from "bun:test";
import { engineNamed } from "../../engines/index.ts";
import { STOP_TIMEOUT_MS } from "./child.ts";

test.each(["mariadb", "postgres", "realtime", "redis", "valkey"] as const)(
  "the host may wait for a %s as long as it wants to before it is killed itself",
  (name) => {
    expect(engineNamed(name)?.stopTimeoutMs).toBeLessThanOrEqual(STOP_TIMEOUT_MS - 10_000);
  },
);

test.each(["redis", "valkey"] as const)("a %s has time to save all its keys", (name) => {
  expect(engineNamed(name)?.stopTimeoutMs).toBeGreaterThanOrEqual(60_000);
});
