// Uploads of sources, and plans: what becomes a deployment, and what is refused and leaves nothing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { once } from "node:events";
import { SOURCE_LIMITS } from "../../src/sources/bounds.ts";
import { git, tarOf } from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import {
  changeEnvironment,
  deploymentsOf,
  newApplication,
  RUNTIMES,
  SOURCE,
  upload,
} from "../support/api/applications-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  api.offer.runtimes = RUNTIMES;
});
afterAll(() => api.stop());

/** The latest upload to an application. */
async function latestUpload(applicationId: string): Promise<string | null> {
  const repository = await api.context.repositories.of(applicationId);
  return (await repository.uploads()).at(-1)?.hash ?? null;
}

describe("an upload", () => {
  test("becomes a commit beside the environment's branch with a deployment", async () => {
    const { id, environmentId } = await newApplication(api);
    const query = "message=Fix%20it&author_name=Ada&author_email=ada@example.com";
    const { status, headers, body } = await upload(api, `/environments/${environmentId}/uploads?${query}`);
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`${api.origin}/api/deployments/${body.data.id}`);
    expect(body.data.attributes).toMatchObject({
      status: "pending",
      branch_name: "main",
      commit_message: "Fix it",
      commit_author: "Ada",
      commit_hash: await latestUpload(id),
    });
    const { path } = await api.context.repositories.of(id);
    const files = await git(path, "ls-tree", "--name-only", body.data.attributes.commit_hash ?? "");
    expect(files.trim().split("\n")).toEqual(["package-lock.json", "package.json", "server.js"]);
    const audited = await api.db`select action from audit where resource_id = ${body.data.id}`;
    expect(audited).toHaveLength(1);
  });

  test("is listed with its environment, and a list includes nothing else", async () => {
    const { environmentId } = await newApplication(api);
    await upload(api, `/environments/${environmentId}/uploads`);
    const list = async (query: string) =>
      await api.request(`/api/environments/${environmentId}/${query}`).then(async (response) => ({
        status: response.status,
        body: (await response.json()) as { included?: { id: string }[] },
      }));
    const { body } = await list("deployments?include=environment");
    expect(body.included?.map(({ id }) => id)).toEqual([environmentId]);
    expect((await list("deployments?include=owner")).status).toBe(400);
    expect((await list("commands?include=environment,deployment")).status).toBe(200);
    expect((await list("commands?include=owner")).status).toBe(400);
  });

  test("with gzip has the same files, and two at once both become commits", async () => {
    const { id, environmentId } = await newApplication(api);
    const packed = Bun.gzipSync(tarOf(SOURCE));
    const headers = { "content-type": "application/gzip" };
    const address = `/environments/${environmentId}/uploads`;
    const answers = await Promise.all([
      upload(api, address, packed, { headers }),
      upload(api, address, [{ path: "index.html", content: "hello" }]),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const hashes = answers.map(({ body }) => body.data.attributes.commit_hash ?? "");
    const stored = await (await api.context.repositories.of(id)).uploads();
    expect(stored.map(({ hash }) => hash).sort()).toEqual(hashes.sort());
    expect(new Set(hashes).size).toBe(2);
    expect(await deploymentsOf(api, environmentId)).toHaveLength(2);
  });

  test("with a key that was used is answered with the same deployment, and its archive is not read", async () => {
    const { id, environmentId } = await newApplication(api);
    const address = `/environments/${environmentId}/uploads`;
    const headers = { "idempotency-key": `upload-${environmentId}` };
    const first = await upload(api, address, SOURCE, { headers });
    const latest = await latestUpload(id);
    const again = await upload(api, address, new Uint8Array([1, 2, 3]), { headers });
    expect(again.status).toBe(201);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.body.data.id).toBe(first.body.data.id);
    expect(await latestUpload(id)).toBe(latest);
    const other = await upload(api, `${address}?message=other`, SOURCE, { headers });
    expect(other.status).toBe(422);
  });

  const many = Array.from({ length: SOURCE_LIMITS.files + 1 }, (_, at) => ({
    path: `folder-${at % 250}/${at}`,
  }));

  test.each([
    ["no archive", new TextEncoder().encode("x".repeat(2_000)), 422, "The upload is no tar archive."],
    ["nothing", new Uint8Array(), 422, "The body has no archive."],
    ["half a gzip", Bun.gzipSync(tarOf(SOURCE)).slice(0, 40), 422, "The archive is no complete gzip."],
    ["a way out", tarOf([{ path: "../x" }]), 422, "../x leaves the folder."],
    ["too many files", tarOf(many), 413, `The archive has more than ${SOURCE_LIMITS.files} files.`],
  ])("with %s is refused and leaves nothing", async (_, bytes, expected, sentence) => {
    const { id, environmentId } = await newApplication(api);
    const { status, body } = await upload(api, `/environments/${environmentId}/uploads`, bytes);
    expect([status, body.errors?.source?.[0] ?? body.message]).toEqual([expected, sentence]);
    expect(await latestUpload(id)).toBeNull();
    expect(await deploymentsOf(api, environmentId)).toEqual([]);
  });

  test("with a gzip bomb ends at the bound", async () => {
    const { id, environmentId } = await newApplication(api);
    const zeros = Bun.gzipSync(new Uint8Array(64 << 20));
    // A header that promises more than a file may have, and members of gzip that go on for ever.
    const head = Bun.gzipSync(tarOf([{ path: "bomb", size: 2 ** 32 - 1 }], false));
    const body = new Uint8Array(Buffer.concat([head, ...Array.from({ length: 20 }, () => zeros)]));
    const answer = await upload(api, `/environments/${environmentId}/uploads`, body);
    expect([answer.status, answer.body.message]).toEqual([413, "bomb is larger than 256 MiB."]);
    expect(await latestUpload(id)).toBeNull();
  });

  test("as JSON, without the ability, or by another organization is refused", async () => {
    const { environmentId } = await newApplication(api);
    const address = `/environments/${environmentId}/uploads`;
    const json = await upload(api, address, SOURCE, { headers: { "content-type": "application/json" } });
    expect(json.status).toBe(415);
    const reader = await api.newToken(["applications:read"]);
    expect((await upload(api, address, SOURCE, { token: reader })).status).toBe(403);
    const stranger = await api.newToken(["*"], "others");
    expect((await upload(api, address, SOURCE, { token: stranger })).status).toBe(404);
  });

  test("to an application with a repository elsewhere is refused", async () => {
    const repository = "https://git.example.com/ada/shop.git";
    const { environmentId } = await newApplication(api, { name: "Fetched", repository });
    const { status, body } = await upload(api, `/environments/${environmentId}/uploads`);
    expect(status).toBe(409);
    expect(body.message).toContain(repository);
  });

  test("to an environment that is being deleted is refused", async () => {
    const { id, environmentId } = await newApplication(api);
    await api.request(`/api/applications/${id}`, { method: "DELETE" });
    expect((await upload(api, `/environments/${environmentId}/uploads`)).status).toBe(409);
  });

  test("of a client that breaks off leaves nothing, and the next is taken", async () => {
    const { id, environmentId } = await newApplication(api);
    const socket = connect(Number(new URL(api.origin).port), "127.0.0.1");
    await once(socket, "connect");
    const path = `/api/environments/${environmentId}/uploads`;
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: application/x-tar\r\nContent-Length: 1000000\r\n\r\n`;
    socket.write(head);
    socket.write(tarOf(SOURCE, false));
    const repository = await api.context.repositories.of(id);
    await until("git runs", () => importsOf(repository.path) > 0);
    socket.destroy();
    await until("git has ended", () => importsOf(repository.path) === 0);
    expect(await latestUpload(id)).toBeNull();
    expect((await upload(api, `/environments/${environmentId}/uploads`)).status).toBe(201);
    expect(await deploymentsOf(api, environmentId)).toHaveLength(1);
  });

  test("whose environment has another branch at its end is refused and leaves nothing", async () => {
    const { id, environmentId } = await newApplication(api);
    const bytes = tarOf(SOURCE);
    const { promise: isChanged, resolve: goOn } = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(bytes.slice(0, 700));
        await isChanged;
        controller.enqueue(bytes.slice(700));
        controller.close();
      },
    });
    const headers = { "content-type": "application/x-tar" };
    const path = `/api/environments/${environmentId}/uploads`;
    const sent = api.request(path, { method: "POST", body, headers });
    const repository = await api.context.repositories.of(id);
    await until("git runs", () => importsOf(repository.path) > 0);
    await changeEnvironment(api, environmentId, { branch: "next" });
    goOn();
    expect((await sent).status).toBe(409);
    expect(await repository.uploads()).toEqual([]);
  });

  test("that waits while its application is deleted leaves no repository", async () => {
    const { id, environmentId } = await newApplication(api);
    const [first] = await Promise.all([
      upload(api, `/environments/${environmentId}/uploads`),
      api.context.repositories.remove(id),
    ]);
    expect([201, 422]).toContain(first.status);
    expect((await upload(api, `/environments/${environmentId}/uploads`)).status).toBe(201);
  });
});

function folderOf(pid: string): string {
  return Bun.spawnSync(["readlink", `/proc/${pid}/cwd`])
    .stdout.toString()
    .trim();
}

/** How many of git's imports run in a repository. */
function importsOf(path: string): number {
  const { stdout } = Bun.spawnSync(["pgrep", "-f", "git fast-import"]);
  const pids = stdout.toString().trim().split("\n").filter(Boolean);
  return pids.filter((pid) => folderOf(pid) === path).length;
}

async function attributesOf(response: Response): Promise<Record<string, unknown>> {
  const { data } = (await response.json()) as { data: { attributes: Record<string, unknown> } };
  return data.attributes;
}

describe("a plan", () => {
  test("of an upload has the origin of each field, and nothing is kept", async () => {
    const { id, environmentId } = await newApplication(api);
    await changeEnvironment(api, environmentId, { start_command: "node other.js" });
    const response = await api.request(`/api/environments/${environmentId}/plans`, {
      method: "POST",
      body: tarOf(SOURCE),
      headers: { "content-type": "application/x-tar" },
    });
    expect(response.status).toBe(200);
    expect(await attributesOf(response)).toMatchObject({
      runtime: { name: "node", version: "24.11.0" },
      build: { commands: ["npm run build"] },
      start: { command: "node other.js", origin: "environment" },
    });
    expect(await latestUpload(id)).toBeNull();
    expect(await deploymentsOf(api, environmentId)).toEqual([]);
  });

  test("of an upload that belongs to no application makes none", async () => {
    const before = await api.db`select id from applications`;
    const response = await api.request("/api/plans", {
      method: "POST",
      body: tarOf(SOURCE),
      headers: { "content-type": "application/x-tar" },
    });
    expect(response.status).toBe(200);
    expect(await attributesOf(response)).toMatchObject({
      runtime: { name: "node", version: "24.11.0" },
      start: { command: "node server.js", origin: "package.json: scripts.start" },
    });
    expect(await api.db`select id from applications`).toEqual(before);
    const refused = await upload(api, "/plans", [{ path: "railpack.json", content: "{" }]);
    expect(refused.status).toBe(422);
    expect(refused.body.errors?.source?.[0]).toStartWith("railpack.json is no valid JSON");
  });

  test("notes that processes of a Procfile sleep, unless the environment stays awake or wakes by itself", async () => {
    const { environmentId } = await newApplication(api);
    const source = [...SOURCE, { path: "Procfile", content: "worker: node worker.js\n" }];
    const notes = async () =>
      (await upload(api, `/environments/${environmentId}/plans`, source)).body.data.attributes;
    expect(await notes()).toMatchObject({
      notes: [expect.stringContaining("pilvi environments update production --no-hibernate")],
    });
    await changeEnvironment(api, environmentId, { hibernation_wake_up_interval: 60 });
    expect(await notes()).toMatchObject({ notes: [] });
    await changeEnvironment(api, environmentId, {
      hibernation_wake_up_interval: null,
      uses_hibernation: false,
    });
    expect(await notes()).toMatchObject({ notes: [] });
  });

  test("of the newest or a named commit follows the settings, and another hash is refused", async () => {
    const { environmentId } = await newApplication(api);
    const address = `/api/environments/${environmentId}/plan`;
    const empty = await api.request(address);
    expect(empty.status).toBe(422);
    const { body } = await upload(api, `/environments/${environmentId}/uploads`);
    await upload(api, `/environments/${environmentId}/uploads`, [{ path: "index.html", content: "x" }]);
    expect(await attributesOf(await api.request(address))).toMatchObject({ serving: { mode: "static" } });
    const hash = body.data.attributes.commit_hash ?? "";
    for (const name of [hash, hash.slice(0, 10)]) {
      const named = await api.request(`${address}?commit_hash=${name}`);
      expect(await attributesOf(named)).toMatchObject({ serving: { mode: "process" } });
    }
    expect((await api.request(`${address}?commit_hash=${"0".repeat(40)}`)).status).toBe(422);
  });

  test("that cannot be made is a sentence at the source", async () => {
    const { environmentId } = await newApplication(api);
    const address = `/environments/${environmentId}/plans`;
    const broken = await upload(api, address, [{ path: "railpack.json", content: "{" }]);
    expect(broken.status).toBe(422);
    expect(broken.body.errors?.source?.[0]).toStartWith("railpack.json is no valid JSON");
    const unknown = await upload(api, address, [
      { path: "package.json", content: '{"engines":{"node":"18"},"scripts":{"start":"node a"}}' },
    ]);
    expect(unknown.body.errors?.source?.[0]).toContain("this host has 24.11.0 and 22.21.1");
  });
});
