// A host in a process of its own, which a test kills at a fail point: it orders one build, or one command in a release,
// and waits for its end.
import { ApplicationHost } from "./host.ts";

const [dataDir = "", id = "", command = "", release] = process.argv.slice(2);
const host = new ApplicationHost({}, dataDir);
await host.start();
if (id !== "") {
  const steps = [{ name: "build", command }];
  await host.order({ id, steps, ...(release !== undefined && { release }) }, { "a.txt": "a" });
  await host.ended(id);
}
process.exit(0);
