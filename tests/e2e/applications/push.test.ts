// A push and an upload against a whole Pilvi: from git's own client to an answer behind the address.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { git, tarOf, testFolder, tryGit } from "../../../src/sources/test-support.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, TOKEN, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
}, 60_000);

afterAll(async () => {
  await pilvi.close();
});

test("a push ends when its release answers, and its terminal shows the build and the address", async () => {
  using folder = testFolder();
  const work = join(folder.path, "work");
  mkdirSync(work);
  await git(work, "init", "--quiet", "--initial-branch=main");
  const files = bunServer("pushed");
  files["package.json"] = JSON.stringify({
    name: "shop",
    scripts: { start: "bun server.ts", build: "echo built here" },
  });
  for (const [path, text] of Object.entries(files)) await Bun.write(join(work, path), text);
  await git(work, "add", "--all");
  await git(work, "commit", "--quiet", "-m", "first");
  const remote = `${pilvi.url.replace("//", `//any:${TOKEN}@`)}/git/${application.id}.git`;
  const { code, stderr } = await tryGit(work, "push", remote, "main");
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toContain("built here");
  const { url } = (await application.environment()).meta;
  expect(stderr).toContain(`remote: Deployed: ${url}`);
  expect(await application.text()).toBe("pushed");
});

test("an upload takes the place of what was pushed", async () => {
  const entries = Object.entries(bunServer("uploaded")).map(([path, content]) => ({ path, content }));
  const response = await fetch(`${pilvi.url}/api/environments/${application.environmentId}/uploads`, {
    method: "POST",
    body: Bun.gzipSync(tarOf(entries)),
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/gzip" },
  });
  expect(response.status).toBe(201);
  await until("the upload answers", async () => (await application.text()) === "uploaded");
});

test("an upload may be larger than a server of Bun's takes by itself", async () => {
  const large = { path: "large", content: new Uint8Array(160 << 20) };
  const entries = Object.entries(bunServer("large")).map(([path, content]) => ({ path, content }));
  const response = await fetch(`${pilvi.url}/api/environments/${application.environmentId}/plans`, {
    method: "POST",
    body: tarOf([...entries, large]),
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/x-tar" },
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ data: { attributes: { runtime: { name: "bun" } } } });
});
