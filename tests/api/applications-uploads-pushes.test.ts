// Uploads and pushes to the same environment in any order, and the uploads that are dropped later.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SOURCE_LIMITS } from "../../src/sources/bounds.ts";
import { dropOldUploads } from "../../src/resources/applications/sources/old-uploads.ts";
import { reconcileApplication } from "../../src/resources/applications/reconciler.ts";
import { newUploadRef } from "../../src/sources/uploads.ts";
import { git, streamed, tarOf, testFolder, TEXT, tryGit } from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import {
  changeEnvironment,
  type MadeApplication,
  newApplication,
  RUNTIMES,
  SOURCE,
  upload,
} from "../support/api/applications-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

const HOUR_MS = 3_600_000;

let api: TestApi;
let count = 0;

beforeAll(async () => {
  api = await startApi();
  api.offer.runtimes = RUNTIMES;
});
afterAll(() => api.stop());

/** An application whose pushes are not followed, and a developer's folder with one commit on `main`. */
async function parts(folder: string) {
  const application = await newApplication(api);
  await changeEnvironment(api, application.environmentId, { uses_push_to_deploy: false });
  const work = join(folder, "work");
  mkdirSync(work);
  await git(work, "init", "--quiet", "--initial-branch=main");
  const remote = `${api.origin.replace("//", `//any:${api.token}@`)}/git/${application.slug}.git`;
  await git(work, "remote", "add", "pilvi", remote);
  return { application, work, push: () => pushed(work) };
}

/** Commits and pushes, without force. @returns the hash of the commit. */
async function pushed(work: string): Promise<string> {
  for (const { path, content = "" } of SOURCE) await Bun.write(join(work, String(path)), content as string);
  await Bun.write(join(work, "count"), String((count += 1)));
  await git(work, "add", "--all");
  await git(work, "commit", "--quiet", "-m", `commit ${count}`);
  await git(work, "push", "--quiet", "pilvi", "main");
  return (await git(work, "rev-parse", "HEAD")).trim();
}

/** @returns the hash of the commit of the upload. */
async function uploaded({ environmentId }: Pick<MadeApplication, "environmentId">): Promise<string> {
  const files = [...SOURCE, { path: "count", content: String((count += 1)) }];
  const { status, body } = await upload(api, `/environments/${environmentId}/uploads`, files);
  expect(status).toBe(201);
  return body.data.attributes.commit_hash ?? "";
}

/** The commit that a deployment without a named commit would deploy. */
async function newest({ environmentId }: Pick<MadeApplication, "environmentId">, query = "") {
  const response = await api.request(`/api/environments/${environmentId}/plan${query}`);
  const { data } = (await response.json()) as { data?: { id: string } };
  return data?.id ?? response.status;
}

async function repositoryOf({ id }: MadeApplication) {
  return await api.context.repositories.of(id);
}

/** The hashes of the uploads that are kept. */
async function keptUploads(application: MadeApplication): Promise<string[]> {
  return (await (await repositoryOf(application)).uploads()).map(({ hash }) => hash);
}

/** Makes all uploads so far older than an hour, with their objects. */
async function age(application: MadeApplication): Promise<void> {
  const then = Date.now() - 2 * HOUR_MS;
  await putUploads(application, then);
  const packs = join((await repositoryOf(application)).path, "objects", "pack");
  for (const name of readdirSync(packs)) utimesSync(join(packs, name), then / 1_000, then / 1_000);
}

/** Gives all uploads so far another time. */
async function putUploads(application: MadeApplication, then: number): Promise<void> {
  const repository = await repositoryOf(application);
  for (const [at, { ref, hash }] of (await repository.uploads()).entries()) {
    const name = ref.replace(/upload-[0-9a-f-]{36}/, `upload-${Bun.randomUUIDv7("hex", then + at)}`);
    await git(repository.path, "update-ref", name, hash);
    await git(repository.path, "update-ref", "-d", ref);
  }
}

describe("uploads and pushes", () => {
  test("come in any order without force, and the newest is whichever came last", async () => {
    using folder = testFolder();
    const { application, push } = await parts(folder.path);
    const first = await uploaded(application);
    expect(await newest(application)).toBe(first);
    const second = await push();
    expect(await newest(application)).toBe(second);
    const third = await uploaded(application);
    expect(await newest(application)).toBe(third);
    const fourth = await push();
    expect(await newest(application)).toBe(fourth);
    for (const hash of [first, second, third.slice(0, 10), fourth])
      expect(await newest(application, `?commit_hash=${hash}`)).toStartWith(hash);
  });

  test("leave a branch with nothing but what was pushed", async () => {
    using folder = testFolder();
    const { application, work, push } = await parts(folder.path);
    await uploaded(application);
    expect(await git(work, "ls-remote", "pilvi")).toBe("");
    const hash = await push();
    await uploaded(application);
    const lines = (await git(work, "ls-remote", "pilvi")).trim().split("\n");
    expect(lines).toEqual([`${hash}\tHEAD`, `${hash}\trefs/heads/main`]);
  });

  test("a branch that is deleted leaves the latest upload", async () => {
    using folder = testFolder();
    const { application, work, push } = await parts(folder.path);
    await push();
    const hash = await uploaded(application);
    await push();
    await git(work, "push", "--quiet", "--delete", "pilvi", "main");
    expect(await newest(application)).toBe(hash);
  });

  test("a branch that is pushed back to where it was at an upload does not leave the upload the newest", async () => {
    using folder = testFolder();
    const { application, work, push } = await parts(folder.path);
    const first = await push();
    const hash = await uploaded(application);
    await push();
    await git(work, "push", "--quiet", "--force", "pilvi", `${first}:main`);
    expect(await newest(application)).toBe(first);
    expect(await newest(application, `?commit_hash=${hash}`)).toBe(hash);
    const next = await uploaded(application);
    expect(await newest(application)).toBe(next);
  });

  test("an upload is the newest of its own environment alone, and others can name it", async () => {
    using folder = testFolder();
    const { application, push } = await parts(folder.path);
    const hash = await push();
    const json = { name: "staging", branch: "main" };
    const made = await api.request(`/api/applications/${application.id}/environments`, { json });
    const { data } = (await made.json()) as { data: { id: string } };
    const staged = await uploaded({ environmentId: data.id });
    expect(await newest({ environmentId: data.id })).toBe(staged);
    expect(await newest(application)).toBe(hash);
    expect(await newest(application, `?commit_hash=${staged}`)).toBe(staged);
    const other = await newApplication(api);
    expect(await newest(other, `?commit_hash=${staged}`)).toBe(422);
  });

  test("an upload that was cut off before its deployment began is not the newest, and is dropped", async () => {
    using folder = testFolder();
    const { application } = await parts(folder.path);
    const { id, environmentId } = application;
    const repository = await repositoryOf(application);
    await repository.commitUpload(streamed(tarOf(SOURCE)), newUploadRef(environmentId, null), TEXT);
    expect(await newest(application)).toBe(422);
    const hash = await uploaded(application);
    const cutOff = newUploadRef(environmentId, null);
    await repository.commitUpload(streamed(tarOf(SOURCE)), cutOff, TEXT);
    expect((await repository.uploads()).at(-1)?.ref).toBe(cutOff);
    expect(await newest(application)).toBe(hash);
    await age(application);
    await dropOldUploads(api.context, repository, id);
    expect(await keptUploads(application)).toEqual([hash]);
  });

  test("an upload after the clock went back is the newest, and uploads of the future are dropped", async () => {
    using folder = testFolder();
    const { application } = await parts(folder.path);
    await uploaded(application);
    await succeed(application, "failed");
    await putUploads(application, Date.now() + 2 * HOUR_MS);
    for (let at = 0; at < 2; at += 1) {
      const hash = await uploaded(application);
      expect(await newest(application)).toBe(hash);
      await succeed(application, "failed");
      await until("the former upload is dropped", async () => (await keptUploads(application)).length === 1);
      expect(await keptUploads(application)).toEqual([hash]);
    }
  });

  test("a branch whose tip is an upload of a former release goes on", async () => {
    using folder = testFolder();
    const { application, work } = await parts(folder.path);
    const repository = await repositoryOf(application);
    const former = await repository.commitUpload(streamed(tarOf(SOURCE)), "refs/heads/main", TEXT);
    expect(await newest(application)).toBe(former);
    const next = await uploaded(application);
    expect(await newest(application)).toBe(next);
    expect(await newest(application, `?commit_hash=${former}`)).toBe(former);
    await git(work, "pull", "--quiet", "pilvi", "main");
    const hash = await pushed(work);
    expect(await newest(application)).toBe(hash);
  });
});

/** Ends the latest deployment of an environment. */
async function succeed({ environmentId }: MadeApplication, status = "deployment.succeeded"): Promise<void> {
  await api.db`
    update deployments set status = ${status}, finished_at = now()
    where environment_id = ${environmentId} and finished_at is null`;
}

/** Uploads that are older than an hour, whose deployments have ended. */
async function oldUploads(application: MadeApplication, number: number, status?: string): Promise<string[]> {
  const hashes: string[] = [];
  for (let at = 0; at < number; at += 1) {
    hashes.push(await uploaded(application));
    await succeed(application, status);
  }
  await age(application);
  return hashes;
}

describe("old uploads", () => {
  test("are dropped but for those of the kept releases, and their files are gone", async () => {
    using folder = testFolder();
    const { application } = await parts(folder.path);
    const served = await oldUploads(application, 7);
    const failed = await oldUploads(application, 2, "failed");
    const newer = await uploaded(application);
    const wanted = [...served.slice(2), newer].sort();
    await until("old uploads are dropped", async () => (await keptUploads(application)).length === 6);
    expect((await keptUploads(application)).sort()).toEqual(wanted);
    const repository = await repositoryOf(application);
    await repository.collectGarbage();
    for (const hash of [...served.slice(0, 2), ...failed]) expect(await repository.resolve(hash)).toBeNull();
    for (const hash of wanted) expect(await repository.resolve(hash)).toBe(hash);
    expect(await newest(application, `?commit_hash=${served[0]}`)).toBe(422);
  });

  test.each(["an upload", "a push"])("make room in a full repository for %s", async (what) => {
    using folder = testFolder();
    const { application, work, push } = await parts(folder.path);
    const large = { path: "large", content: crypto.getRandomValues(new Uint8Array(400_000)) };
    await upload(api, `/environments/${application.environmentId}/uploads`, [large]);
    await succeed(application, "failed");
    await oldUploads(application, 1, "failed");
    const repository = await repositoryOf(application);
    const bound = SOURCE_LIMITS.repositoryBytes;
    SOURCE_LIMITS.repositoryBytes = 300_000;
    try {
      expect(await repository.roomBytes()).toBeLessThan(0);
      if (what === "an upload") await uploaded(application);
      else {
        await push().catch(() => "");
        await until("it is taken", async () => (await tryGit(work, "push", "pilvi", "main")).code === 0);
      }
      expect(await repository.roomBytes()).toBeGreaterThan(0);
    } finally {
      SOURCE_LIMITS.repositoryBytes = bound;
    }
  });

  test("make room soon where the storage of the organization is full", async () => {
    using folder = testFolder();
    const { application } = await parts(folder.path);
    const large = { path: "large", content: crypto.getRandomValues(new Uint8Array(400_000)) };
    const address = `/environments/${application.environmentId}/uploads`;
    await upload(api, address, [large]);
    await succeed(application, "failed");
    await oldUploads(application, 1, "failed");
    const { quotas } = api.context;
    const bound = quotas.storageBytes;
    const [used] = await api.db<
      { bytes: number }[]
    >`select sum(storage_bytes)::int as bytes from allocations`;
    try {
      quotas.storageBytes = (used?.bytes ?? 0) - 200_000;
      expect((await upload(api, address)).status).toBe(422);
      await until("there is room", async () => (await upload(api, address)).status === 201);
    } finally {
      quotas.storageBytes = bound;
    }
  });

  test("of an environment that is deleted are dropped with it", async () => {
    using folder = testFolder();
    const { application } = await parts(folder.path);
    await oldUploads(application, 1);
    const { environmentId, id } = application;
    await api.db`delete from deployments where environment_id = ${environmentId}`;
    await api.db`delete from process_groups where environment_id = ${environmentId}`;
    await api.db`delete from environments where id = ${environmentId}`;
    await reconcileApplication(api.context)(id, new AbortController().signal);
    expect(await keptUploads(application)).toEqual([]);
  });

  test("are dropped also where a killed git has left its lock", async () => {
    using folder = testFolder();
    const { application } = await parts(folder.path);
    await oldUploads(application, 3, "failed");
    const { path } = await repositoryOf(application);
    const lock = join(path, "packed-refs.lock");
    writeFileSync(lock, "");
    utimesSync(lock, Date.now() / 1_000 - 3_600, Date.now() / 1_000 - 3_600);
    await uploaded(application);
    await until("old uploads are dropped", async () => (await keptUploads(application)).length === 1);
  });
});
