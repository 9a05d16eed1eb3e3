// Makes the template of the data directories of a test run, and of the servers of Postgres that its tests start
// themselves; see template.ts. Its argument is the folder.
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { makePostgresTemplate } from "../engines/postgres.ts";
import { startPilvi, until } from "./pilvi.ts";
import { POSTGRES_TEMPLATE, TEMPLATE_ENGINES, slotsOf } from "./template.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("the folder of the template is missing");
const pilvi = await startPilvi({ dataDir: folder, env: { PILVI_WARM_SLOTS: "1" } });
const isBuilt = (slots: string) =>
  readdirSync(join(folder, "slots", slots)).some((name) => !name.includes("."));
await until("each engine has a slot", () =>
  TEMPLATE_ENGINES.every((engine) => slotsOf(folder, engine).some(isBuilt)),
);
await pilvi.stop();

const postgres = join(folder, POSTGRES_TEMPLATE);
mkdirSync(postgres);
chmodSync(postgres, 0o755);
await makePostgresTemplate(postgres);
