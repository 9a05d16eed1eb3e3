// A host in a process of its own, which a test kills at a fail point: it orders one build and waits for its end.
import { ApplicationHost } from "./host.ts";

const [dataDir = "", id = "", command = ""] = process.argv.slice(2);
const host = new ApplicationHost({}, dataDir);
await host.start();
if (id !== "") {
  await host.order({ id, steps: [{ name: "build", command }] }, { "a.txt": "a" });
  await host.ended(id);
}
process.exit(0);
