// A host that an ordinary user runs, whose own user its customers' processes share: prints what an intruder got.
// Usage: bun ordinary-host.ts DATA_DIR ELSEWHERE
import { ApplicationHost } from "./host.ts";
import { intrude } from "./intruder.ts";
import { sandboxByLandlock } from "./landlock.ts";

const [dataDir = "", elsewhere = ""] = process.argv.slice(2);
const host = new ApplicationHost({ sandbox: sandboxByLandlock() }, dataDir);
await host.start();
try {
  console.log(JSON.stringify(await intrude(host, elsewhere)));
} finally {
  await host.close();
}
