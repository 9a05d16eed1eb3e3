// What the edge is shown of an instance that this host has just found.
import { expect, test } from "bun:test";
import { createLog } from "../../lib/log.ts";
import type { StateName } from "../lifecycle/state.ts";
import { edgeHostOf } from "./edge-host.ts";

const PORT = 20_007;

/** The port that the edge is shown of an instance. */
function portOf(name: StateName, hasServed: boolean): number | undefined {
  const instance = {
    observe: () => ({ state: "starting" }),
    lifecycle: { state: { name } },
    process: { hasServed },
    metered: { now: {} },
    source: { manifest: { spec: { exposure: { port: PORT } } } },
  };
  const [instances, settings] = [new Map([["app", instance]]), { dataDir: "/nowhere" }];
  const takers = { environmentLogs: {}, measurements: { requests: {} } };
  const host = edgeHostOf(
    instances as never,
    settings as never,
    createLog("host", "silent"),
    takers as never,
  );
  return host.find("app")?.port;
}

test("the edge goes on with a process that has served, before this host has asked it", () => {
  expect(portOf("starting", true)).toBe(PORT);
});

test("the edge is shown no port of a process that has not served, is to sleep or has failed", () => {
  expect(portOf("starting", false)).toBe(0);
  expect(portOf("recovering", true)).toBe(0);
  expect(portOf("failed", true)).toBe(0);
});
