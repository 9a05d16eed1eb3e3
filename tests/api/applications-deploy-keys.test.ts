// Deploy keys: applications whose repository is behind a real sshd.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApplicationResource } from "../../src/resources/applications/schema.ts";
import { fetchSource } from "../../src/resources/applications/sources/fetch.ts";
import { privateKeyOf } from "../../src/resources/applications/sources/deploy-key.ts";
import { loadApplication } from "../../src/resources/applications/store.ts";
import { newKeyPair } from "../../src/sources/deploy-key.ts";
import { findGit } from "../../src/sources/git.ts";
import { Repositories } from "../../src/sources/repositories.ts";
import { Repository } from "../../src/sources/repository.ts";
import {
  openRepository,
  refusalOf,
  streamed,
  tarOf,
  testFolder,
  TEXT,
} from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication, RUNTIMES, SOURCE } from "../support/api/applications-api.ts";
import { runProgram } from "../support/clients/programs.ts";
import { ensureSshServer, SshServer } from "../support/clients/ssh-server.ts";

const FIELDS = { name: "Fetched", repository: "git@git.example.com:shop/web.git" };

let api: TestApi;
beforeAll(async () => {
  await ensureSshServer();
  api = await startApi({ mayReachItself: true });
  api.offer.runtimes = RUNTIMES;
}, 120_000);
afterAll(() => api.stop());

async function applicationAt(id: string): Promise<ApplicationResource> {
  const response = await api.request(`/api/applications/${id}`);
  return ((await response.json()) as { data: ApplicationResource }).data;
}

async function keyOf(id: string): Promise<string | null> {
  return (await applicationAt(id)).meta.deploy_key;
}

/** Changes the repository. */
async function change(id: string, repository: string | null): Promise<Response> {
  return await api.request(`/api/applications/${id}`, { method: "PATCH", json: { repository } });
}

function rotate(id: string, init: { token?: string; headers?: Record<string, string> } = {}) {
  return api.request(`/api/applications/${id}/rotate-deploy-key`, { method: "POST", ...init });
}

/** A repository with one commit behind sshd, and an application that fetches it. */
async function behindSsh(folder: string, server: SshServer) {
  const origin = await openRepository(folder);
  const hash = await origin.commitUpload(streamed(tarOf(SOURCE)), "refs/heads/main", TEXT);
  const { id, environmentId } = await newApplication(api, {
    name: "Fetched",
    repository: server.urlOf(origin.path),
  });
  server.allow((await keyOf(id)) ?? "");
  const repositories = new Repositories(folder, { mayReachItself: true });
  const fetched = async () => {
    const row = await loadApplication(api.db, id);
    if (row === undefined) throw new Error("there is no application");
    return await fetchSource({ ...api.context, repositories }, row, "main");
  };
  return { id, environmentId, hash, fetched, path: join(folder, `${id}.git`) };
}

describe("an application with a repository behind SSH", () => {
  test("is fetched with its own key, which is nowhere on the disk afterwards", async () => {
    using folder = testFolder();
    await using server = await SshServer.start(folder.path);
    const { hash, fetched, path } = await behindSsh(folder.path, server);
    expect((await fetched()).hash).toBe(hash);
    expect((await fetched()).hash).toBe(hash);
    expect(readdirSync(path).filter((name) => name.startsWith("keys-"))).toEqual([]);
    const found = await runProgram(["grep", "-rlE", "BEGIN OPENSSH", path]).catch(() => "");
    expect(found).toBe("");
  });

  test("is planned from its repository, or says what ssh says", async () => {
    using folder = testFolder();
    await using server = await SshServer.start(folder.path);
    const { id, environmentId, hash } = await behindSsh(folder.path, server);
    const plan = () => api.request(`/api/environments/${environmentId}/plan`);
    const found = await plan();
    expect(found.status).toBe(200);
    expect(await found.text()).toContain(hash);
    await rotate(id);
    const refused = await plan();
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain("refused the deploy key of the application");
    await change(id, "ssh://git@127.0.0.1:1/x.git");
    expect(await (await plan()).text()).toContain("port 1: Connection refused");
  });

  test("is refused with a reason when its key is not at the host", async () => {
    using folder = testFolder();
    await using server = await SshServer.start(folder.path);
    const { id, hash, fetched } = await behindSsh(folder.path, server);
    expect((await rotate(id)).status).toBe(200);
    expect(await refusalOf(fetched())).toBe(
      "The repository could not be fetched: 127.0.0.1 refused the deploy key of the application. Add the public key in its meta.deploy_key to the repository there, for reading.",
    );
    server.allow((await keyOf(id)) ?? "");
    expect((await fetched()).hash).toBe(hash);
  });

  test("is refused when the host has another key, until its own key is rotated", async () => {
    using folder = testFolder();
    await using server = await SshServer.start(folder.path);
    const { id, hash, fetched, path } = await behindSsh(folder.path, server);
    await fetched();
    await server.changeHostKey();
    expect(await refusalOf(fetched())).toContain("the host key of 127.0.0.1 is not that of the first fetch");
    await rotate(id);
    server.allow((await keyOf(id)) ?? "");
    expect((await fetched()).hash).toBe(hash);
    expect(readdirSync(path).filter((name) => name.startsWith("known_hosts"))).toHaveLength(1);
  });

  test("is not fetched from the machine of Pilvi itself, nor without an ssh", async () => {
    using folder = testFolder();
    const { id } = await newApplication(api, { name: "Own", repository: "ssh://git@127.0.0.1/srv/x.git" });
    const row = await loadApplication(api.db, id);
    if (row === undefined) throw new Error("there is no application");
    expect(
      await refusalOf(
        fetchSource({ ...api.context, repositories: new Repositories(folder.path) }, row, "main"),
      ),
    ).toContain("the machine of Pilvi itself");
    const git = { ...findGit(), ssh: "/nowhere/ssh" };
    const repository = await Repository.open(join(folder.path, "x.git"), { git });
    const source = { url: "git@127.0.0.1:x", branch: "main", deployKey: null, mayReachItself: true };
    expect(await refusalOf(repository.fetch(source))).toContain("apt-get install openssh-client");
  });
});

describe("a deploy key", () => {
  test("can be read by OpenSSH, is sealed in the store, and differs from all others", async () => {
    using folder = testFolder();
    const [one, other] = [await newApplication(api, FIELDS), await newApplication(api, FIELDS)];
    const shown = (await keyOf(one.id)) ?? "";
    expect(shown).toMatch(new RegExp(`^ssh-ed25519 [\\w+/=]{68} pilvi-${one.id}$`));
    expect(await keyOf(other.id)).not.toBe(shown);
    const row = await loadApplication(api.db, one.id);
    if (row === undefined) throw new Error("there is no application");
    const file = join(folder.path, "key");
    writeFileSync(file, privateKeyOf(api.context.vault, row) ?? "", { mode: 0o600 });
    expect(statSync(file).size).toBeGreaterThan(300);
    expect((await runProgram(["ssh-keygen", "-y", "-P", "", "-f", file])).trim()).toBe(shown);
    expect(row.deployKey?.sealed).not.toContain("OPENSSH");
    const answer = JSON.stringify(await applicationAt(one.id));
    for (const line of readFileSync(file, "utf8").split("\n").slice(1, 4)) expect(answer).not.toContain(line);
  });

  test.each(["", "x", "pilvi-app-1", "longer and longer"])(
    "with the comment %j can be read",
    async (comment) => {
      using folder = testFolder();
      const { publicKey, privateKey } = newKeyPair(comment);
      const file = join(folder.path, "key");
      writeFileSync(file, privateKey, { mode: 0o600 });
      expect((await runProgram(["ssh-keygen", "-y", "-P", "", "-f", file])).trim()).toBe(publicKey.trim());
    },
  );

  test("comes and goes with a repository behind SSH, and stays with another", async () => {
    const { id } = await newApplication(api);
    expect(await keyOf(id)).toBeNull();
    await change(id, "ssh://git@git.example.com/shop/web.git");
    const first = await keyOf(id);
    expect(first).toStartWith("ssh-ed25519 ");
    await change(id, "git@git.example.com:store/web.git");
    expect(await keyOf(id)).toBe(first);
    await change(id, "https://git.example.com/shop/web.git");
    expect(await keyOf(id)).toBeNull();
  });

  test("is rotated once for an Idempotency-Key, and only with the ability to write", async () => {
    const { id } = await newApplication(api, FIELDS);
    const former = await keyOf(id);
    const reader = await api.newToken(["applications:read"]);
    expect((await rotate(id, { token: reader })).status).toBe(403);
    const stranger = await api.newToken(["*"], "others");
    expect((await rotate(id, { token: stranger })).status).toBe(404);
    expect(await keyOf(id)).toBe(former);
    const headers = { "Idempotency-Key": "rotation" };
    const { data } = (await (await rotate(id, { headers })).json()) as { data: ApplicationResource };
    expect(data.meta.deploy_key).not.toBe(former);
    const again = await rotate(id, { headers });
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(await keyOf(id)).toBe(data.meta.deploy_key);
    const { id: pushed } = await newApplication(api);
    expect((await rotate(pushed)).status).toBe(422);
  });
});

test.each([
  "ssh://-oProxyCommand=id/x",
  "ssh://-oProxyCommand=id@git.example.com/x",
  "ssh://git.example.com/$(id)",
  "git@-oProxyCommand=id:x",
  "-o@git.example.com:x",
  "git@git.example.com:x;`id`",
  "ext::sh -c id",
  "file:///etc/passwd",
])("the repository %j is refused", async (repository) => {
  const { id } = await newApplication(api);
  const response = await change(id, repository);
  expect(response.status).toBe(422);
  expect(Object.keys(((await response.json()) as { errors: object }).errors)).toEqual(["repository"]);
});
