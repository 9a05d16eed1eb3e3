// The names that `pilvi init` and `pilvi deploy` make of folders.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { closeServers, failureOf, requests, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import { temporaryFolder } from "./test-support.ts";

afterEach(closeServers);

test.each(["日本", "сайт", "--"])(
  "the folder %s does not become an application with a name that other folders would get as well",
  async (name) => {
    const folder = temporaryFolder(name);
    mkdirSync(folder.path);
    writeFileSync(join(folder.path, "index.html"), "hello");
    const failure = await failureOf(runCommand(fakeIo({ folder: folder.path }), serve({}), "deploy"));
    folder.remove();
    expect(failure?.text).toEndWith("Choose a name with: pilvi init NAME");
    expect(requests).toEqual([]);
  },
);
