// A host in a process of its own, which a test kills at a fail point: it runs an edge with an application behind it, and
// puts the application to sleep.
import type { ApplicationSpec, EdgeSpec } from "../../../src/contracts/instance-spec.ts";
import { routeOf } from "../engines/lone-edge.ts";
import { ApplicationHost } from "./host.ts";

/** What the process is given as JSON. */
export interface SleepOrder {
  dataDir: string;
  edge: EdgeSpec;
  /** Its release is made from the server. */
  spec: ApplicationSpec;
  name: string;
  server: string;
}

if (import.meta.main) {
  const { dataDir, edge, spec, name, server }: SleepOrder = JSON.parse(process.argv[2] ?? "");
  const doomed = new ApplicationHost({}, dataDir);
  await doomed.start();
  const { id: release } = await doomed.build({}, { "server.js": server });
  await doomed.host.ensure(edge);
  await doomed.host.ensure({ ...spec, release });
  await doomed.host.edge.ensure(routeOf("env", [name], spec.id));
  await doomed.host.suspend(spec.id);
  process.exit(0);
}
