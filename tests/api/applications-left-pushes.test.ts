// Pushes that the control plane could not deploy at their end: each is deployed later, and none twice.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beginUnasked } from "../../src/resources/applications/deployments/begin-unasked.ts";
import { lockDeployable } from "../../src/resources/applications/deployments/create.ts";
import { deployAllLeftPushes } from "../../src/resources/applications/index.ts";
import { PushRecord } from "../../src/sources/push-records.ts";
import { git, testFolder, tryGit } from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import {
  changeEnvironment,
  deploymentsOf,
  type MadeApplication,
  newApplication,
} from "../support/api/applications-api.ts";

let api: TestApi;
const { signal } = new AbortController();

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

/** A new application, and a developer's folder with one commit. */
async function parts(folder: string): Promise<{ application: MadeApplication; work: string; hash: string }> {
  const work = join(folder, "work");
  mkdirSync(work);
  await git(work, "init", "--quiet", "--initial-branch=main");
  await git(work, "commit", "--quiet", "--allow-empty", "-m", "first");
  const hash = (await git(work, "rev-parse", "HEAD")).trim();
  return { application: await newApplication(api), work, hash };
}

/** Has git take a push, after which the control plane ends. */
async function cutOff({ id }: MadeApplication, work: string): Promise<void> {
  const repository = await api.context.repositories.of(id);
  const record = await PushRecord.begin(repository.path, () => repository.branches());
  await git(work, "push", "--quiet", "--force", repository.path, "main");
  record.leave();
}

async function commitsOf({ environmentId }: MadeApplication): Promise<(string | null)[]> {
  return (await deploymentsOf(api, environmentId)).map(({ attributes }) => attributes.commit_hash);
}

test("a push that was cut off is deployed by the next control plane, once", async () => {
  using folder = testFolder();
  const { application, work, hash } = await parts(folder.path);
  await cutOff(application, work);
  const { path } = await api.context.repositories.of(application.id);
  const notes = join(path, "pilvi-pushes");
  cpSync(notes, join(folder.path, "notes"), { recursive: true });
  await deployAllLeftPushes(api.context, signal);
  expect(await commitsOf(application)).toEqual([hash]);
  // A control plane that ends once more, before the note is deleted.
  cpSync(join(folder.path, "notes"), notes, { recursive: true });
  await deployAllLeftPushes(api.context, signal);
  expect(await commitsOf(application)).toEqual([hash]);
  expect(await api.context.repositories.pushed()).toEqual([]);
});

test("a push that was cut off is deployed when its developer pushes again", async () => {
  using folder = testFolder();
  const { application, work, hash } = await parts(folder.path);
  await cutOff(application, work);
  const remote = `${api.origin.replace("//", `//any:${api.token}@`)}/git/${application.slug}.git`;
  expect((await tryGit(work, "push", remote, "main")).stderr).toContain("Everything up-to-date");
  expect(await commitsOf(application)).toEqual([hash]);
  await git(work, "push", "--quiet", remote, "main");
  expect(await commitsOf(application)).toEqual([hash]);
});

test("a push back to a commit that was deployed before is deployed again", async () => {
  using folder = testFolder();
  const { application, work, hash } = await parts(folder.path);
  await cutOff(application, work);
  await deployAllLeftPushes(api.context, signal);
  await git(work, "commit", "--quiet", "--allow-empty", "-m", "second");
  const second = (await git(work, "rev-parse", "HEAD")).trim();
  await cutOff(application, work);
  await deployAllLeftPushes(api.context, signal);
  await git(work, "reset", "--quiet", "--hard", hash);
  await cutOff(application, work);
  await deployAllLeftPushes(api.context, signal);
  expect(await commitsOf(application)).toEqual([hash, second, hash]);
});

test("a push that was cut off deploys nothing where push-to-deploy is off", async () => {
  using folder = testFolder();
  const { application, work } = await parts(folder.path);
  await changeEnvironment(api, application.environmentId, { uses_push_to_deploy: false });
  await cutOff(application, work);
  await deployAllLeftPushes(api.context, signal);
  await changeEnvironment(api, application.environmentId, { uses_push_to_deploy: true });
  await deployAllLeftPushes(api.context, signal);
  expect(await commitsOf(application)).toEqual([]);
});

test("a deployment of the newest commit after the push leaves nothing to deploy", async () => {
  using folder = testFolder();
  const { application, work, hash } = await parts(folder.path);
  await cutOff(application, work);
  await api.db.begin(async (tx) => {
    const [row] = await tx<{ id: string }[]>`select id from organizations where name = 'default'`;
    const environment = await lockDeployable(tx, row?.id ?? "", application.environmentId);
    await beginUnasked(tx, environment, { hash, message: "first", author: null });
  });
  await deployAllLeftPushes(api.context, signal);
  expect(await commitsOf(application)).toEqual([hash]);
});
