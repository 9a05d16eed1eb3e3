// Makes the template of the data directories of a test run; see template.ts. Its argument is the folder.
import { startPilvi } from "./pilvi.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("the folder of the template is missing");
await (await startPilvi({ dataDir: folder })).stop();
