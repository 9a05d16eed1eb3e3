// Deployments through the API and the edge: a first release, the next, one that does not come up, and a rollback.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { EDGE_ID } from "../../../src/contracts/edge-id.ts";
import { groupOf } from "../../../src/host/os/cgroup.ts";
import { findCgroups } from "../../../src/host/os/cgroup-backends.ts";
import type { DeploymentLog } from "../../../src/resources/applications/deployments/schema.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
let application: TestApplication;
let first: string;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
});

afterAll(async () => {
  await pilvi.close();
});

/** The steps of a deployment's log by name, with their status. */
async function stepsOf(id: string): Promise<Record<string, string>> {
  const { body } = await pilvi.api<DeploymentLog>("GET", `/deployments/${id}/logs`);
  const steps = [...body.data.build.steps, ...body.data.deploy.steps];
  return Object.fromEntries(steps.map(({ step, status }) => [step, status]));
}

describe("a deployment", () => {
  test("of a first commit ends behind the address of its environment", async () => {
    const { id, attributes } = await application.deploy(bunServer("one"));
    first = id;
    expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
    expect(attributes.commit_hash).toMatch(/^[0-9a-f]{40}$/);
    expect(await application.text()).toBe("one");
    const environment = await application.environment();
    expect(environment.attributes).toMatchObject({ status: "running", serving: { mode: "process" } });
    expect(environment.meta.isolation).toBe("bubblewrap");
    expect(environment.relationships.currentDeployment.data?.id).toBe(id);
    expect(await stepsOf(id)).toMatchObject({ source: "finished", "deploy.command": "skipped" });
  });

  test("of another commit takes its place", async () => {
    const { attributes } = await application.deploy(bunServer("two"));
    expect(attributes.status).toBe("deployment.succeeded");
    expect(await application.text()).toBe("two");
  });

  test("whose application ends at once leaves the former release, and says its last lines", async () => {
    const files = bunServer("three");
    files["server.ts"] = `console.error("no database here"); process.exit(3);`;
    const { attributes } = await application.tryToDeploy(files);
    expect(attributes.status).toBe("deployment.failed");
    expect(attributes.failure_reason).toContain("no database here");
    expect(await application.text()).toBe("two");
    expect((await application.environment()).attributes.status).toBe("running");
  });

  test("whose application quotes a secret before it ends does not quote it in its reason", async () => {
    const path = `/environments/${application.environmentId}/variables`;
    const variables = [{ key: "API_TOKEN", value: "hush-7f3a91" }];
    await pilvi.api("POST", path, { method: "set", variables });
    const files = bunServer("quoting");
    files["server.ts"] = `console.error("refused:", process.env.API_TOKEN); process.exit(3);`;
    const { attributes } = await application.tryToDeploy(files);
    expect(attributes.failure_reason).toContain("refused: [secret]");
    expect(JSON.stringify((await pilvi.api("GET", "/events")).body)).not.toContain("hush-7f3a91");
  });

  test("whose build fails starts nothing, and says its last lines", async () => {
    const files = bunServer("four");
    files["package.json"] = JSON.stringify({
      name: "shop",
      scripts: { start: "bun server.ts", build: "sh fails.sh" },
    });
    const code = Array.from({ length: 12 }, (_, line) => `echo "  ${line} | code"`);
    const red = String.raw`printf '\033[31mcannot be built:\033[39m main.ts\n'`;
    files["fails.sh"] = [red, ...code, "exit 4"].join("\n");
    const { id, attributes } = await application.tryToDeploy(files);
    expect(attributes.status).toBe("build.failed");
    expect(attributes.failure_reason).toContain("\ncannot be built: main.ts\n  0 | code\n");
    expect(await stepsOf(id)).toMatchObject({ build: "failed" });
    expect(await application.text()).toBe("two");
  });

  test("of an earlier release builds nothing", async () => {
    const { id, attributes, meta } = await application.rollBack(first);
    expect(attributes.status).toBe("deployment.succeeded");
    expect(meta.release_of).toBe(first);
    expect(Object.keys(await stepsOf(id))).not.toContain("build");
    expect(await application.text()).toBe("one");
  });

  test("with nothing to build from is refused with a sentence", async () => {
    const { attributes } = await application.tryToDeploy({ "README.md": "Nothing here." });
    expect(attributes.status).toBe("failed");
    expect(attributes.failure_reason).toMatch(/\w+ .*\.$/s);
    expect(await application.text()).toBe("one");
  });
});

describe("an environment", () => {
  test("has its network settings in force without a deployment", async () => {
    const path = `/environments/${application.environmentId}`;
    const answered = async (target: string) => await application.fetch(target);
    expect((await answered("/")).headers.get("x-frame-options")).toBe("DENY");
    expect((await answered("/.env")).status).toBe(403);
    const settings = { response_headers_frame: "all", firewall_block_path: false };
    expect((await pilvi.api("PATCH", path, settings)).status).toBe(200);
    await until("the edge has the settings", async () => (await answered("/.env")).status === 200);
    expect((await answered("/")).headers.get("x-frame-options")).toBeNull();
    const refused = await pilvi.api("PATCH", path, { firewall_rate_limit_per_minute: 7 });
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { errors: { firewall_rate_limit_per_minute: [expect.any(String)] } },
    ]);
  });

  test("under attack challenges every client, from the moment when that was switched on", async () => {
    const path = `/environments/${application.environmentId}`;
    const switched = async (isOn: boolean) => {
      const { body } = await pilvi.api<{
        data: { attributes: { network_settings: { firewall: { under_attack_mode_started_at: unknown } } } };
      }>("PATCH", path, { firewall_under_attack_mode: isOn });
      return body.data.attributes.network_settings.firewall.under_attack_mode_started_at;
    };
    const startedAt = await switched(true);
    expect(Math.abs(Date.now() - Date.parse(String(startedAt)))).toBeLessThan(60_000);
    await until("the edge challenges", async () => (await application.fetch()).status === 403);
    expect(await switched(true)).toBe(startedAt);
    expect(await switched(false)).toBeNull();
    await until("the edge lets clients pass", async () => (await application.fetch()).status === 200);
    const wrong = await pilvi.api("PATCH", path, { firewall_under_attack_mode: "on" });
    expect([wrong.status, wrong.body]).toMatchObject([
      422,
      { errors: { firewall_under_attack_mode: [expect.any(String)] } },
    ]);
  });

  test("has its marked answers kept at the edge until a purge or a deployment", async () => {
    const path = `/environments/${application.environmentId}`;
    const count = async () => Number(await application.text("/?counted"));
    const isKept = async () => (await count()) === (await count());
    await until("an answer is kept", isKept);
    const kept = await count();
    const purged = await pilvi.api("POST", `${path}/purge-edge-cache`, {});
    expect(purged.status).toBe(200);
    await until("the application answers", async () => (await count()) !== kept);
    await until("an answer is kept", isKept);
    const files = { ...bunServer("one"), "notes.md": "Another release." };
    expect((await application.deploy(files)).attributes.status).toBe("deployment.succeeded");
    expect(await count()).toBe(1);
    const wrong = await pilvi.api("POST", `${path}/purge-edge-cache`, { path: "/a", prefix: "/b" });
    expect([wrong.status, wrong.body]).toMatchObject([422, { errors: { prefix: [expect.any(String)] } }]);
    expect((await pilvi.api("PATCH", path, { cache_strategy: "bypass" })).status).toBe(200);
    await until("nothing is kept", async () => !(await isKept()));
  });

  test("has its kept answers outlive a deployment that is not to purge, but no change of that setting", async () => {
    const path = `/environments/${application.environmentId}`;
    const count = async () => Number(await application.text("/?counted"));
    const isKept = async () => (await count()) === (await count());
    const settings = { cache_strategy: "default", uses_purge_edge_cache_on_deploy: false };
    const changed = await pilvi.api("PATCH", path, settings);
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { data: { meta: { uses_purge_edge_cache_on_deploy: false } } },
    ]);
    // The next answer is not the first of a release, which a purge would bring as well.
    await until("an answer is kept", async () => (await count()) > 1 && (await isKept()));
    const kept = await count();
    const { id } = await application.upload({ ...bunServer("one"), "notes.md": "A third release." });
    await until("the deployment ends, with requests meanwhile", async () => {
      expect(await count()).toBe(kept);
      return (await application.deployment(id)).attributes.finished_at !== null;
    });
    expect((await application.deployment(id)).attributes.status).toBe("deployment.succeeded");
    expect(await count()).toBe(kept);
    await pilvi.api("PATCH", path, { uses_purge_edge_cache_on_deploy: true });
    await until("the new release answers", async () => (await count()) === 1);
    const wrong = await pilvi.api("PATCH", path, { uses_purge_edge_cache_on_deploy: "yes" });
    expect([wrong.status, wrong.body]).toMatchObject([
      422,
      { errors: { uses_purge_edge_cache_on_deploy: [expect.any(String)] } },
    ]);
  });

  test("gets a changed variable by a restart of the same release", async () => {
    const path = `/environments/${application.environmentId}/variables`;
    const variables = [{ key: "GREETING", value: "good morning" }];
    expect((await pilvi.api("POST", path, { method: "set", variables })).status).toBe(200);
    await until("the application has the variable", async () => {
      return (await application.text("/?variable=GREETING")) === "good morning";
    });
    expect(await application.text()).toBe("one");
  });

  test("gets the address and the credentials of a cache that is attached", async () => {
    const cache = await pilvi.createCache({ name: "shop" });
    const path = `/environments/${application.environmentId}`;
    expect((await pilvi.api("PATCH", path, { cache_id: cache.id })).status).toBe(200);
    await until("the application has the address", async () => {
      return (await application.text("/?variable=REDIS_URL")).startsWith("redis://");
    });
    const client = new Bun.RedisClient(await application.text("/?variable=REDIS_URL"));
    expect(await client.ping()).toBe("PONG");
    client.close();
    const { body } = await pilvi.api<{ included: { id: string }[] }>(
      "GET",
      `/caches/${cache.id}?include=environments`,
    );
    expect(body.included.map(({ id }) => id)).toEqual([application.environmentId]);
  });

  test("that is stopped answers nothing, and starts with its release", async () => {
    const path = `/environments/${application.environmentId}`;
    const stopped = await pilvi.api<{ data: { attributes: { status: string } } }>("POST", `${path}/stop`);
    expect(stopped.body.data.attributes.status).toBe("stopped");
    await until("the edge has noticed", async () => (await application.fetch()).status === 503);
    const started = await pilvi.api<{ data: { id: string } }>("POST", `${path}/start`, { redeploy: true });
    expect(started.status).toBe(201);
    expect((await application.ended(started.body.data.id)).attributes.status).toBe("deployment.succeeded");
    expect(await application.text()).toBe("one");
  });

  test("shows what its process has written", async () => {
    const { body } = await pilvi.api<{ data: { message: string }[] }>(
      "GET",
      `/environments/${application.environmentId}/logs`,
    );
    expect(body.data.map(({ message }) => message).join("\n")).toContain("one listens at");
  });
});

test("nothing is left of a deleted application", async () => {
  await application.delete();
  const { body } = await pilvi.api<{ data: unknown[] }>("GET", "/applications");
  expect(body.data).toEqual([]);
  for (const folder of ["releases", "builds", "repositories", "routes"])
    expect([...new Bun.Glob("*").scanSync({ cwd: `${pilvi.dataDir}/${folder}`, onlyFiles: false })]).toEqual(
      [],
    );
});

/** The weight of an instance for the processor, in the kernel's unit; null on a machine without cgroups. */
function weightOf(id: string): number | null {
  const cgroups = findCgroups(pilvi.dataDir);
  return cgroups === null ? null : Number(readFileSync(cgroups.weight(groupOf(cgroups, id), 1)[0], "utf8"));
}

test("the edge gets the processor before applications that keep it busy", () => {
  const instance = pilvi.instanceFolders().find((id) => id !== EDGE_ID) ?? "";
  const ofInstance = weightOf(instance);
  expect(weightOf(EDGE_ID)).toBe(ofInstance === null ? null : 16 * ofInstance);
});
