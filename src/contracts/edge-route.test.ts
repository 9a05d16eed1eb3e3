// Formats of kept routes: today's, and those of earlier releases.
import { expect, test } from "bun:test";
import { anyKeptRouteSchema, inTodaysFormat, NO_POLICY } from "./edge-route.ts";

const common = { id: "env-1", names: ["a.localhost"] };
const today = {
  format: 3 as const,
  sequence: 7,
  route: { ...common, instances: ["app-1"], settings: { timeoutSeconds: 30, policy: NO_POLICY } },
};

test("a route of format 1 has one instance and no policy", () => {
  const route = { ...common, instance: "app-1", settings: { timeoutSeconds: 30 } };
  const kept = anyKeptRouteSchema.parse({ format: 1, sequence: 7, route });
  expect(inTodaysFormat(kept)).toEqual(today);
});

test("a route of format 1 without an instance has none", () => {
  const route = { ...common, instance: null, settings: { timeoutSeconds: 30 } };
  const kept = anyKeptRouteSchema.parse({ format: 1, sequence: 7, route });
  expect(inTodaysFormat(kept).route.instances).toEqual([]);
});

test("a route of format 2 has no policy", () => {
  const route = { ...common, instances: ["app-1"], settings: { timeoutSeconds: 30 } };
  const kept = anyKeptRouteSchema.parse({ format: 2, sequence: 7, route });
  expect(inTodaysFormat(kept)).toEqual(today);
});

test("a route of today's format without a policy is refused", () => {
  const route = { ...common, instances: ["app-1"], settings: { timeoutSeconds: 30 } };
  expect(() => anyKeptRouteSchema.parse({ format: 3, sequence: 7, route })).toThrow();
});
