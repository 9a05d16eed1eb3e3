// The names that `pilvi init` and `pilvi deploy` make of folders.
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bodies, closeServers, failureOf, list, one, requests, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import { APPLICATION_ID, sampleApplication, temporaryFolder } from "./test-support.ts";

afterEach(closeServers);

test("init --root makes an application of a folder in a monorepo, and does not move an application", async () => {
  const folder = temporaryFolder();
  mkdirSync(folder.path);
  const sample = sampleApplication();
  const made = { ...sample, meta: { ...sample.meta, root_directory: "apps/web" } };
  const url = serve({
    "GET /applications": list(),
    "POST /applications": one(made, 201),
    [`GET /applications/${APPLICATION_ID}`]: one(made),
  });
  const init = (root: string) => runCommand(fakeIo({ folder: folder.path }), url, "init", "--root", root);
  await init("apps/web");
  expect(bodies).toEqual([{ name: "Web shop", region: "us-east-1", root_directory: "apps/web" }]);
  await init("apps/web");
  const failure = await failureOf(init("apps/api"));
  rmSync(join(folder.path, ".pilvi"), { recursive: true });
  const unlinked = await failureOf(
    runCommand(
      fakeIo({ folder: folder.path }),
      serve({ "GET /applications": list(made), [`GET /applications/${APPLICATION_ID}`]: one(made) }),
      "init",
      "--root",
      "apps/api",
    ),
  );
  expect(unlinked).toEqual(failure);
  expect(existsSync(join(folder.path, ".pilvi"))).toBe(false);
  folder.remove();
  expect(failure?.text).toBe(
    `The application Web shop is made from the folder apps/web. Change that with: pilvi apps set-root ${APPLICATION_ID} apps/api`,
  );
  expect(bodies).toHaveLength(1);
});

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
