// A host in a process of its own that runs an application, begins to end it, and is killed before the application has
// ended.
import { readFileSync } from "node:fs";
import type { ApplicationSpec } from "../../../src/contracts/instance-spec.ts";
import { instanceFolder } from "../../../src/host/os/layout.ts";
import { routeOf } from "../engines/lone-edge.ts";
import { until } from "../pilvi/pilvi.ts";
import { ApplicationHost } from "./host.ts";

/** What the process is given as JSON. */
export interface EndingOrder {
  dataDir: string;
  /** The application writes `ending` when it is asked to end. */
  spec: ApplicationSpec;
  /** Why it is ended: an order, the end of its host, its sleep behind an edge that runs, or another spec. */
  reason: "order" | "close" | "sleep" | ApplicationSpec;
}

async function end(host: ApplicationHost, { spec: { id }, reason }: EndingOrder): Promise<unknown> {
  if (reason === "order") return host.host.endings.end(id);
  if (reason === "close") return await host.host.close();
  if (reason !== "sleep") return await host.host.ensure(reason);
  await host.host.edge.ensure(routeOf("env", ["a.localhost"], id));
  return await host.host.suspend(id);
}

if (import.meta.main) {
  const order: EndingOrder = JSON.parse(process.argv[2] ?? "");
  const doomed = new ApplicationHost({}, order.dataDir);
  await doomed.start();
  const { state, lastError } = await doomed.host.ensure(order.spec);
  if (state !== "running") throw new Error(`it is ${state}: ${lastError}`);
  void end(doomed, order);
  const { log } = instanceFolder(order.dataDir, order.spec.id);
  await until("it was asked to end", () => readFileSync(log, "utf8").includes("ending"));
  process.kill(process.pid, "SIGKILL");
}
