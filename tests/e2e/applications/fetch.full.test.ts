// Deployments from private repositories against a whole Pilvi: over SSH with a deploy key, over HTTP with a password.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApplicationResource } from "../../../src/resources/applications/schema.ts";
import type { Repository } from "../../../src/sources/repository.ts";
import { demanding, type GitServer, serveRepository } from "../../../src/sources/test-server.ts";
import { openRepository, streamed, tarOf, testFolder, TEXT } from "../../../src/sources/test-support.ts";
import { ensureSshServer, SshServer } from "../../support/clients/ssh-server.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi } from "../../support/pilvi/pilvi.ts";

const PASSWORD = "token-of-the-repository-7f3a";

const folder = testFolder();
let origin: Repository;
let http: GitServer;
let ssh: SshServer;
let pilvi: TestPilvi;

beforeAll(async () => {
  await ensureSshServer();
  origin = await openRepository(folder.path);
  http = serveRepository(origin, { answer: demanding("ada", PASSWORD) });
  mkdirSync(join(folder.path, "ssh"));
  ssh = await SshServer.start(join(folder.path, "ssh"));
  pilvi = await startPilvi({
    env: { PILVI_LOCAL_GIT_SERVERS: `${http.server},127.0.0.1:${ssh.port}` },
  });
}, 120_000);

afterAll(async () => {
  await pilvi.close();
  await Promise.all([http[Symbol.asyncDispose](), ssh[Symbol.asyncDispose]()]);
  folder[Symbol.dispose]();
});

async function commit(text: string): Promise<string> {
  const entries = Object.entries(bunServer(text)).map(([path, content]) => ({ path, content }));
  return await origin.commitUpload(streamed(tarOf(entries)), "refs/heads/main", TEXT);
}

/** Deploys the newest commit of the repository. */
async function deploy(application: TestApplication) {
  const { body } = await pilvi.api<{ data: { id: string } }>(
    "POST",
    `/environments/${application.environmentId}/deployments`,
    {},
  );
  return (await application.ended(body.data.id)).attributes;
}

async function change(application: TestApplication, fields: object): Promise<ApplicationResource> {
  const path = `/applications/${application.id}`;
  const { body, status } = await pilvi.api<{ data: ApplicationResource }>("PATCH", path, fields);
  expect(status).toBe(200);
  return body.data;
}

test("a repository that demands a password is deployed, and the password is in no log", async () => {
  const application = await TestApplication.create(pilvi, "With a password");
  const hash = await commit("one");
  await change(application, { repository: http.url });
  const refused = await deploy(application);
  expect(refused.status).toBe("failed");
  expect(refused.failure_reason).toContain("127.0.0.1 asks for a password.");
  await change(application, { repository_username: "ada", repository_password: PASSWORD });
  expect(await deploy(application)).toMatchObject({ status: "deployment.succeeded", commit_hash: hash });
  expect(await application.text()).toBe("one");
  const second = await commit("two");
  expect(await deploy(application)).toMatchObject({ status: "deployment.succeeded", commit_hash: second });
  expect(await application.text()).toBe("two");
  const logs = ["control", "host"].map((name) =>
    readFileSync(join(pilvi.dataDir, "log", `${name}.log`), "utf8"),
  );
  for (const text of [...logs, pilvi.log()]) expect(text).not.toContain(PASSWORD);
}, 120_000);

test("a repository behind SSH is deployed with the deploy key", async () => {
  const application = await TestApplication.create(pilvi, "With a key");
  const hash = await commit("over ssh");
  const { meta } = await change(application, { repository: ssh.urlOf(origin.path) });
  const refused = await deploy(application);
  expect(refused.failure_reason).toContain("refused the deploy key of the application");
  ssh.allow(meta.deploy_key ?? "");
  expect(await deploy(application)).toMatchObject({ status: "deployment.succeeded", commit_hash: hash });
  expect(await application.text()).toBe("over ssh");
}, 120_000);

test("another server of this machine stays out of reach", async () => {
  const application = await TestApplication.create(pilvi, "Out of reach");
  await change(application, { repository: `http://127.0.0.1:${pilvi.port}/x.git` });
  expect((await deploy(application)).failure_reason).toContain("the machine of Pilvi itself");
}, 120_000);
