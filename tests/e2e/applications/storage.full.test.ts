// The storage that repositories and releases take of an organization's quota, against a whole Pilvi.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { git, testFolder, tryGit } from "../../../src/sources/test-support.ts";
import type { OrganizationDocument } from "../../../src/sdk/index.ts";
import { bunServer, tarOf, TestApplication, type Files } from "../../support/pilvi/applications.ts";
import { startPilvi, TOKEN, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

const MEBIBYTE = 1024 ** 2;
const EXCESS =
  /^The organization may have 2mb of storage and has [\d.]+mb\. Delete something, or have the operator raise PILVI_QUOTA_STORAGE\.$/;

let pilvi: TestPilvi;
let application: TestApplication;
const releases: string[] = [];

beforeAll(async () => {
  pilvi = await startPilvi({ env: { PILVI_QUOTA_STORAGE: "2mb" } });
  application = await TestApplication.create(pilvi);
  await inRepository(async (work, remote) => {
    await git(work, "commit", "--quiet", "--allow-empty", "-m", "first");
    await git(work, "push", "--quiet", remote, "HEAD:former");
  });
});
afterAll(async () => await pilvi.close());

/** Works in a clone of the application's repository. */
async function inRepository(work: (folder: string, remote: string) => Promise<void>): Promise<void> {
  using folder = testFolder();
  const clone = join(folder.path, "clone");
  mkdirSync(clone);
  const remote = `${pilvi.url.replace("//", `//any:${TOKEN}@`)}/git/${application.id}.git`;
  await git(clone, "clone", "--quiet", remote, ".");
  await work(clone, remote);
}

async function organization() {
  return (await pilvi.api<OrganizationDocument>("GET", "/meta/organization")).body.data.meta;
}

async function used(): Promise<number> {
  return (await organization()).quotas.storage_bytes.used;
}

/** A source with a file that cannot be packed. */
function sourceOf(text: string, bytes = 0): Files {
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(Math.min(bytes, 65_536)))).toString("hex");
  return { ...bunServer(text), "noise.txt": noise.repeat(Math.ceil(bytes / 131_072)) };
}

async function upload(): Promise<{ status: number; errors?: Record<string, string[]> }> {
  const response = await fetch(`${pilvi.url}/api/environments/${application.environmentId}/uploads`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/gzip" },
    body: tarOf(bunServer("refused")),
  });
  return { status: response.status, ...((await response.json()) as object) };
}

test("a repository and its releases count, until the oldest releases are gone", async () => {
  for (const text of ["one", "two", "three"]) {
    const { id, attributes } = await application.deploy(sourceOf(text));
    expect(attributes.status).toBe("deployment.succeeded");
    releases.push(id);
  }
  await until("all of it is counted", async () => (await used()) > 0);
  expect(await used()).toBeLessThan(MEBIBYTE);
  const { id, attributes } = await application.deploy(sourceOf("large", 3 * MEBIBYTE));
  expect(attributes.status).toBe("deployment.succeeded");
  await until("the large release is counted", async () => (await used()) > 3 * MEBIBYTE);
  expect((await organization()).notices.join()).toContain("may have 2mb of storage");
  releases.push(id);
}, 120_000);

test("with full storage nothing is built, and a sentence names the limit", async () => {
  const uploaded = await upload();
  expect(uploaded.status).toBe(422);
  expect(uploaded.errors?.source?.[0]).toMatch(EXCESS);
  const created = await pilvi.api<{ errors: Record<string, string[]> }>("POST", "/applications", {
    name: "Another",
    region: "us-east-1",
  });
  expect(created.status).toBe(422);
  expect(created.body.errors.name?.[0]).toMatch(EXCESS);
  const path = `/environments/${application.environmentId}/deployments`;
  const { body } = await pilvi.api<{ data: { id: string } }>("POST", path, {});
  const { attributes } = await application.ended(body.data.id);
  expect(attributes.status).toBe("failed");
  expect(attributes.failure_reason).toMatch(EXCESS);
  expect(await application.text()).toBe("large");
}, 120_000);

test("with full storage the release before can be started again, and older releases are gone", async () => {
  // The processes of a former release go on for a while.
  await until(
    "two releases are left",
    () => readdirSync(join(pilvi.dataDir, "releases")).length === 2,
    60_000,
  );
  const path = `/environments/${application.environmentId}/deployments`;
  const gone = await pilvi.api<{ errors: object }>("POST", path, { release_of: releases[0] });
  expect([gone.status, Object.keys(gone.body.errors)]).toEqual([422, ["release_of"]]);
  expect((await application.rollBack(releases[2] ?? "")).attributes.status).toBe("deployment.succeeded");
  expect(await application.text()).toBe("three");
}, 120_000);

test("with full storage no pack is taken, and a branch can be deleted", async () => {
  await inRepository(async (work, remote) => {
    await git(work, "commit", "--quiet", "--allow-empty", "-m", "more");
    const refused = await tryGit(work, "push", remote, "HEAD:next");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("pack exceeds maximum allowed size");
    expect((await tryGit(work, "push", remote, ":former")).code).toBe(0);
  });
}, 120_000);

test("nothing counts of a deleted application", async () => {
  await application.delete();
  expect(await used()).toBe(0);
}, 120_000);
