// The edge while no host takes its lines about requests: it rests, and the lines come once a host is there.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { named } from "../../../tests/support/engines/named-application.ts";
import { processorMs } from "../../../tests/support/load/hostile-load.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";

let lone: LoneEdge;

beforeAll(async () => {
  lone = await LoneEdge.start();
  lone.serve("app", named("app"));
  await lone.route("app", ["app.localhost"]);
});

afterAll(async () => await lone.close());

/** The share of a processor that the edge takes for a while. Only time can show that nothing happens. */
async function processorShare(): Promise<number> {
  const { pid } = lone.engine;
  if (pid === null) throw new Error("the edge does not run");
  const before = [processorMs(pid), performance.now()] as const;
  await Bun.sleep(500);
  return (processorMs(pid) - before[0]) / (performance.now() - before[1]);
}

test("an edge whose host is away rests, and keeps its lines until a host is there", async () => {
  expect((await lone.get("app.localhost", "/kept")).status).toBe(200);
  await until("the edge rests", async () => (await processorShare()) < 0.05);
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
  await until("the edge rests again", async () => (await processorShare()) < 0.05);
});
