// Pushes and clones of git's own client, deploy hooks, and repositories elsewhere.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeDeploymentStatus } from "../../src/resources/applications/deployments/store.ts";
import type { DeploymentStatus } from "../../src/resources/applications/deployments/schema.ts";
import { fetchSource } from "../../src/resources/applications/sources/fetch.ts";
import { findApplication } from "../../src/resources/applications/store.ts";
import { sha256Hex } from "../../src/lib/secrets.ts";
import { Repositories } from "../../src/sources/repositories.ts";
import { serveRepository } from "../../src/sources/test-server.ts";
import {
  git,
  openRepository,
  streamed,
  tarOf,
  testFolder,
  TEXT,
  tryGit,
} from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import {
  changeEnvironment,
  deploymentsOf,
  type MadeApplication,
  newApplication,
  SOURCE,
  upload,
} from "../support/api/applications-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ rateLimitPerMinute: 0 });
  let at = 0;
  // The host of the API's tests runs no builds; this one has a single build with one line.
  api.host.driver.buildLog = async (_id, { after }) => {
    at += 1;
    const line = { at: "2026-03-15T08:18:53.204Z", step: "build", text: `line ${at}` };
    return await Promise.resolve({ lines: after === 0 ? [line] : [], next: 1, isEnd: after > 0 });
  };
});
afterAll(() => api.stop());

/** The address of an application for git, with a token as the password. */
function remoteOf(name: string, token = api.token): string {
  return `${api.origin.replace("//", `//any:${token}@`)}/git/${name}.git`;
}

/** A developer's folder with one commit on `main`. */
async function developer(folder: string): Promise<string> {
  const path = join(folder, "work");
  mkdirSync(path);
  await git(path, "init", "--quiet", "--initial-branch=main");
  await Bun.write(join(path, "index.html"), "one");
  await git(path, "add", "--all");
  await git(path, "commit", "--quiet", "-m", "first");
  return path;
}

/** Brings the newest deployment of an environment through its statuses, as its reconciler would. */
async function reconcile(environmentId: string, ...statuses: DeploymentStatus[]): Promise<void> {
  await until("there is a deployment", async () => (await deploymentsOf(api, environmentId)).length > 0);
  const [deployment] = await deploymentsOf(api, environmentId);
  for (const status of statuses)
    await writeDeploymentStatus(
      api.db,
      deployment?.id ?? "",
      status,
      status === "build.failed" ? "No." : null,
    );
}

async function environmentOf({ environmentId }: MadeApplication, token = api.token) {
  const response = await api.request(`/api/environments/${environmentId}`, { token });
  return ((await response.json()) as { data: { meta: Record<string, string | null> } }).data;
}

describe("a push", () => {
  test("deploys its branch, and its terminal shows the address, the build and the end", async () => {
    using folder = testFolder();
    const application = await newApplication(api);
    const work = await developer(folder.path);
    const [pushed] = await Promise.all([
      tryGit(work, "push", remoteOf(application.slug), "main"),
      reconcile(application.environmentId, "build.running", "deployment.running", "deployment.succeeded"),
    ]);
    expect(pushed.code).toBe(0);
    const { meta } = await environmentOf(application);
    expect(pushed.stderr).toContain(`to production: ${meta.url}`);
    expect(pushed.stderr).toMatch(/line \d/);
    expect(pushed.stderr).toContain("remote: deployment.succeeded");
    expect(pushed.stderr).toContain(`remote: Deployed: ${meta.url}`);
    const [deployment] = await deploymentsOf(api, application.environmentId);
    expect(deployment?.attributes).toMatchObject({
      commit_hash: (await git(work, "rev-parse", "HEAD")).trim(),
      commit_message: "first",
      commit_author: "Grace",
      branch_name: "main",
    });
    const clone = join(folder.path, "clone");
    await git(folder.path, "clone", "--quiet", remoteOf(application.id), clone);
    expect(await Bun.file(join(clone, "index.html")).text()).toBe("one");
  });

  test("that fails to build says why, and git itself is content", async () => {
    using folder = testFolder();
    const application = await newApplication(api);
    const work = await developer(folder.path);
    const [pushed] = await Promise.all([
      tryGit(work, "push", remoteOf(application.slug), "main"),
      reconcile(application.environmentId, "build.failed"),
    ]);
    expect(pushed.code).toBe(0);
    expect(pushed.stderr).toContain("remote: The deployment has failed. No.");
  });

  test("is followed no further with a token that is revoked", async () => {
    using folder = testFolder();
    const { slug, environmentId } = await newApplication(api);
    const work = await developer(folder.path);
    const token = await api.newToken(["*"]);
    const pushing = tryGit(work, "push", remoteOf(slug, token), "main");
    await until("there is a deployment", async () => (await deploymentsOf(api, environmentId)).length > 0);
    await api.db`update tokens set revoked_at = now() where token_hash = ${sha256Hex(token)}`;
    await reconcile(environmentId, "build.running", "deployment.running", "deployment.succeeded");
    const pushed = await pushing;
    expect(pushed.code).toBe(0);
    expect(pushed.stderr).toContain("This token is not valid any more. The deployment goes on");
    expect(pushed.stderr).not.toContain("deployment.succeeded");
  });

  test("of a client that goes away is deployed", async () => {
    using folder = testFolder();
    const { slug, environmentId } = await newApplication(api);
    const work = await developer(folder.path);
    const child = Bun.spawn(["git", "push", remoteOf(slug), "main"], {
      cwd: work,
      stdout: "ignore",
      stderr: "ignore",
    });
    await until("there is a deployment", async () => (await deploymentsOf(api, environmentId)).length === 1);
    child.kill("SIGKILL");
    await child.exited;
    const [deployment] = await deploymentsOf(api, environmentId);
    expect(deployment?.attributes.status).toBe("pending");
  });

  test("to a branch that no environment has, or that none deploys, says so", async () => {
    using folder = testFolder();
    const { slug, environmentId } = await newApplication(api);
    await changeEnvironment(api, environmentId, { uses_push_to_deploy: false });
    const work = await developer(folder.path);
    const other = await tryGit(work, "push", remoteOf(slug), "main:other");
    expect(other.stderr).toContain("No environment has the branch other.");
    const main = await tryGit(work, "push", remoteOf(slug), "main");
    expect(main.stderr).toContain("No environment deploys pushes to the branch main.");
    expect(await deploymentsOf(api, environmentId)).toEqual([]);
  });

  test("with a wrong token, without the ability, or of another organization is refused", async () => {
    using folder = testFolder();
    const { slug } = await newApplication(api);
    const work = await developer(folder.path);
    const refusal = async (token: string, ...args: string[]) =>
      (await tryGit(work, ...args.map((arg) => arg.replace("REMOTE", remoteOf(slug, token))))).stderr;
    const push = ["push", "REMOTE", "main"];
    expect(await refusal("wrong", ...push)).toContain("Authentication failed");
    const reader = await api.newToken(["applications:read"]);
    expect(await refusal(reader, ...push)).toContain("applications:write");
    expect(await refusal(reader, "ls-remote", "REMOTE")).toBe("");
    const other = await api.newToken(["caches:read"]);
    expect(await refusal(other, "ls-remote", "REMOTE")).toContain("applications:read");
    const stranger = await api.newToken(["*"], "others");
    expect(await refusal(stranger, ...push)).toContain("There is no such application.");
    const open = await fetch(`${api.origin}/git/${slug}.git/info/refs?service=git-upload-pack`);
    expect([open.status, open.headers.get("www-authenticate")]).toEqual([
      401,
      'Basic realm="Pilvi", charset="UTF-8"',
    ]);
    expect(open.headers.get("x-request-id")).not.toBeNull();
  });

  test("for a host name that is not served is refused", async () => {
    const { slug } = await newApplication(api);
    const headers = { host: "evil.example", authorization: `Basic ${btoa(`any:${api.token}`)}` };
    const response = await fetch(`${api.origin}/git/${slug}.git/info/refs?service=git-upload-pack`, {
      headers,
    });
    expect(response.status).toBe(421);
  });

  test.each(["%00", "a%00b", "..", "%2e%2e%2fx", "x".repeat(300)])(
    "to a repository whose name no application can have is refused: %s",
    async (name) => {
      const headers = { authorization: `Basic ${btoa(`any:${api.token}`)}` };
      const path = `/git/${name}.git/info/refs?service=git-upload-pack`;
      expect((await fetch(`${api.origin}${path}`, { headers })).status).toBe(404);
    },
  );

  test("to an application with a repository elsewhere is refused with its address", async () => {
    using folder = testFolder();
    const repository = "https://git.example.com/ada/shop.git";
    const { slug } = await newApplication(api, { name: "Fetched", repository });
    const work = await developer(folder.path);
    const { code, stderr } = await tryGit(work, "push", remoteOf(slug), "main");
    expect(code).not.toBe(0);
    expect(stderr).toContain(`come from ${repository}`);
  });
});

describe("a deploy hook", () => {
  test("deploys the newest or a named commit, and is gone when it is turned off", async () => {
    const application = await newApplication(api);
    const { environmentId } = application;
    const { body } = await upload(api, `/environments/${environmentId}/uploads`);
    const hash = body.data.attributes.commit_hash;
    expect((await environmentOf(application)).meta.deploy_hook_url).toBeNull();
    await changeEnvironment(api, environmentId, { uses_deploy_hook: true });
    const path = (await environmentOf(application)).meta.deploy_hook_url ?? "";
    const reader = await api.newToken(["applications:read"]);
    expect((await environmentOf(application, reader)).meta.deploy_hook_url).toBeUndefined();
    const call = (address: string) => api.request(address, { method: "POST", token: null });
    expect((await call(path)).status).toBe(201);
    const named = await call(`${path}?commit_hash=${hash}`);
    expect(named.status).toBe(201);
    expect(((await named.json()) as typeof body).data.attributes.commit_hash).toBe(hash);
    expect((await call(`${path}?commit_hash=${"0".repeat(40)}`)).status).toBe(422);
    expect(await deploymentsOf(api, environmentId)).toHaveLength(3);
    expect((await call(`${path}x`)).status).toBe(404);
    await changeEnvironment(api, environmentId, { uses_deploy_hook: false });
    expect((await call(path)).status).toBe(404);
    await changeEnvironment(api, environmentId, { uses_deploy_hook: true });
    expect((await environmentOf(application)).meta.deploy_hook_url).not.toBe(path);
  });

  test("is called ten times a minute at most", async () => {
    const application = await newApplication(api);
    await changeEnvironment(api, application.environmentId, { uses_deploy_hook: true });
    const path = (await environmentOf(application)).meta.deploy_hook_url ?? "";
    const answers: Response[] = [];
    for (let call = 0; call < 11; call += 1)
      answers.push(await api.request(path, { method: "POST", token: null }));
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(201), 429]);
    expect(Number(answers.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("a repository elsewhere", () => {
  test("gives the newest commit of a branch, unless it is on this machine", async () => {
    using folder = testFolder();
    const origin = await openRepository(folder.path);
    const hash = await origin.commitUpload(streamed(tarOf(SOURCE)), "refs/heads/main", TEXT);
    await using server = serveRepository(origin);
    const made = await newApplication(api, { name: "Fetched", repository: server.url });
    const application = await findApplication(api.db, await organizationId(), made.id);
    if (application === undefined) throw new Error("there is no application");
    const repositories = new Repositories(folder.path, { mayReachItself: true });
    const commit = await fetchSource({ ...api.context, repositories }, application, "main");
    expect(commit).toEqual({ hash, message: TEXT.message, author: "Ada x" });
    await expect(fetchSource(api.context, application, "main")).rejects.toThrow(
      "the machine of Pilvi itself",
    );
  });
});

async function organizationId(): Promise<string> {
  const [row] = await api.db<{ id: string }[]>`select id from organizations where name = 'default'`;
  return row?.id ?? "";
}

test("pushes and clones that do not end leave no room for more of the organization, until they do", async () => {
  const made = await newApplication(api);
  const address = `${api.origin}/git/${made.slug}.git`;
  const headers = { authorization: `Basic ${btoa(`any:${api.token}`)}` };
  const { hostname, port, host } = new URL(api.origin);
  const type = "application/x-git-upload-pack-request";
  const head = `POST /git/${made.slug}.git/git-upload-pack HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${headers.authorization}\r\ncontent-type: ${type}\r\ncontent-length: 100\r\n\r\n`;
  const slow: { terminate(): void }[] = [];
  let isOver = false;
  /** Begins a clone that sends no body. The question below may take its place meanwhile, so a refused one tries again. */
  const hold = async (): Promise<void> => {
    if (isOver) return;
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (refused) => {
          refused.terminate();
          void hold();
        },
      },
    });
    slow.push(socket);
    socket.write(head);
  };
  await Promise.all(Array.from({ length: 16 }, hold));
  const asked = () => fetch(`${address}/info/refs?service=git-upload-pack`, { headers });
  let refusal: Response | undefined;
  await until("the room is taken", async () => (refusal = await asked()).status === 429);
  expect(await refusal?.text()).toContain("Too many pushes and clones run at the same time.");
  isOver = true;
  for (const socket of slow) socket.terminate();
  await until("there is room again", async () => (await asked()).status === 200);
});
