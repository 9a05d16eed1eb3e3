// The edge while no host takes its lines about requests: it rests, and the lines come once a host is there.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { named } from "../../../tests/support/engines/named-application.ts";
import { processorShare } from "../../../tests/support/load/hostile-load.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";

let lone: LoneEdge;

beforeAll(async () => {
  lone = await LoneEdge.start();
  lone.serve("app", named("app"));
  await lone.route("app", ["app.localhost"]);
});

afterAll(async () => await lone.close());

async function isAtRest(): Promise<boolean> {
  const { pid } = lone.engine;
  if (pid === null) throw new Error("the edge does not run");
  return (await processorShare(pid)) < 0.05;
}

test("an edge whose host is away rests, and keeps its lines until a host is there", async () => {
  expect((await lone.get("app.localhost", "/kept")).status).toBe(200);
  await until("the edge rests", isAtRest);
  let lines = "";
  const unix = join(lone.engine.dataDir, "run/access.sock");
  const host = Bun.listen({
    unix,
    socket: { data: (_, bytes) => void (lines += Buffer.from(bytes).toString()) },
  });
  chmodSync(unix, 0o666);
  try {
    await until("the line has come", () => lines.includes("kept"));
  } finally {
    host.stop(true);
  }
  await until("the edge rests again", isAtRest);
});
