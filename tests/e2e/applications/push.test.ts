// A push and an upload against a whole Pilvi: from git's own client to an answer behind the address.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { git, tarOf, testFolder, tryGit } from "../../../src/sources/test-support.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { Failpoints, startPilvi, TOKEN, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  application = await TestApplication.create(pilvi);
});

afterAll(async () => {
  failpoints.release();
  await pilvi.close();
  failpoints.close();
});

/** The address of the application for git, with a token as the password. */
function remote(): string {
  return `${pilvi.url.replace("//", `//any:${TOKEN}@`)}/git/${application.id}.git`;
}

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
  const { code, stderr } = await tryGit(work, "push", remote(), "main");
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

test.each(["push.received", "push.reported"])(
  "a push is deployed once, with a kill of the control plane at %s",
  async (step) => {
    using folder = testFolder();
    const work = join(folder.path, "work");
    await git(folder.path, "clone", "--quiet", remote(), work);
    for (const [path, text] of Object.entries(bunServer(step))) await Bun.write(join(work, path), text);
    await git(work, "add", "--all");
    await git(work, "commit", "--quiet", "-m", step);
    failpoints.arm(step);
    const pushed = tryGit(work, "push", remote(), "main");
    await failpoints.reached();
    pilvi.kill("control");
    failpoints.release();
    await pushed;
    await pilvi.untilReady();
    await until("the push answers", async () => (await application.text()) === step);
    expect((await tryGit(work, "push", remote(), "main")).stderr).toContain("Everything up-to-date");
    const hash = (await git(work, "rev-parse", "HEAD")).trim();
    const path = `/environments/${application.environmentId}/deployments?filter[commit_hash]=${hash}`;
    const { body } = await pilvi.api<{ data: unknown[] }>("GET", path);
    expect(body.data).toHaveLength(1);
  },
);
