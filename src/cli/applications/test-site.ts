// A folder that tests deploy.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./test-support.ts";

/** A folder with a site of one page. */
export function siteFolder(): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder();
  mkdirSync(folder.path);
  writeFileSync(join(folder.path, "index.html"), "hello");
  return folder;
}
