// Replicas and background processes of a deployed application: shared requests, kills, releases, scaling and sleep.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { TestApplication, type Files } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

interface Process {
  id: string;
  attributes: { processes: number; command: string };
  meta: { procfile_name: string | null; running: number; last_error: string | null };
}

let pilvi: TestPilvi;
let application: TestApplication;
let instance: string;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  const environment = `/environments/${application.environmentId}`;
  await pilvi.api("PATCH", environment, { shutdown_timeout: 10 });
  const { body } = await pilvi.api<{ data: { id: string }[] }>("GET", `${environment}/instances`);
  instance = `/instances/${body.data[0]?.id}`;
  await pilvi.api("PATCH", instance, { min_replicas: 2, max_replicas: 2 });
});

afterAll(async () => await pilvi.close());

/** A server that answers with its text and its process, and a worker that counts in a log. */
function files(text: string, procfile = "worker: bun worker.ts\n"): Files {
  return {
    "bunfig.toml": "# This program runs on Bun.\n",
    "package.json": JSON.stringify({ name: "shop", private: true, scripts: { start: "bun server.ts" } }),
    "server.ts": `
      Bun.serve({
        port: Number(process.env.PORT),
        hostname: "127.0.0.1",
        fetch(request) {
          if (new URL(request.url).pathname === "/end") process.exit(1);
          return new Response("${text} " + process.env.PORT);
        },
      });
    `,
    "worker.ts": `
      console.log("${text} works", process.env.PORT);
      process.on("SIGTERM", () => setTimeout(() => { console.log("${text} ended"); process.exit(0); }, 300));
      setInterval(() => {}, 1_000);
    `,
    Procfile: procfile,
  };
}

async function background(): Promise<Process[]> {
  return (await pilvi.api<{ data: Process[] }>("GET", `${instance}/background-processes`)).body.data;
}

async function untilRunning(counts: number[]): Promise<void> {
  await until("the background processes run", async () => {
    const running = (await background()).map(({ meta }) => meta.running);
    return JSON.stringify(running) === JSON.stringify(counts);
  });
}

/** What the workers wrote, in its order. */
async function wordsOfWorkers(): Promise<string[]> {
  const path = `/environments/${application.environmentId}/logs?type=application&per_page=300`;
  const { body } = await pilvi.api<{ data: { message: string }[] }>("GET", path);
  // The shell of a former web process says how its command ended.
  const words = body.data.filter(({ message }) => message !== "Terminated");
  return words.map(({ message }) => message.replace(" undefined", ""));
}

/** The answers of some requests, each answer once. */
async function answers(count = 6): Promise<string[]> {
  const texts = await Promise.all(Array.from({ length: count }, () => application.text()));
  return [...new Set(texts)].sort();
}

function processFolders(): number {
  return readdirSync(join(pilvi.dataDir, "instances")).filter((name) => name.startsWith("proc-")).length;
}

test("two replicas share the requests, and each has the worker of the Procfile beside it", async () => {
  expect((await application.deploy(files("one"))).attributes).toMatchObject({ failure_reason: null });
  expect(await answers()).toEqual([expect.stringMatching(/^one \d+$/), expect.stringMatching(/^one \d+$/)]);
  await untilRunning([2]);
  expect(await background()).toMatchObject([
    { attributes: { processes: 1, command: "bun worker.ts" }, meta: { procfile_name: "worker" } },
  ]);
});

test("a replica that ends is started again, and the other answers meanwhile", async () => {
  await application.fetch("/end", { method: "POST" }).catch(() => undefined);
  for (let asked = 0; asked < 10; asked += 1) expect(await application.text()).toStartWith("one ");
  await until("both answer", async () => (await answers()).length === 2);
});

test("a release swaps all replicas and then the workers, without a failed request", async () => {
  const load = { isOver: false, faults: [] as string[], answered: 0 };
  const clients = Array.from({ length: 3 }, async () => {
    while (!load.isOver) {
      const response = await application.fetch().catch((error: unknown) => String(error));
      if (typeof response === "string" || response.status !== 200) load.faults.push(String(response));
      else await response.text();
      load.answered += 1;
    }
  });
  const { attributes } = await application.deploy(files("two", "worker: bun worker.ts\nmail: sleep 999\n"));
  await untilRunning([2, 2]);
  load.isOver = true;
  await Promise.all(clients);
  expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
  expect(load.faults).toEqual([]);
  expect(load.answered).toBeGreaterThan(10);
  expect(await answers()).toEqual([expect.stringMatching(/^two \d+$/), expect.stringMatching(/^two \d+$/)]);
  await until("the former processes have ended", () => processFolders() === 6);
});

test("the former workers end by themselves before the new ones start", async () => {
  const words = ["one works", "one works", "one ended", "one ended", "two works", "two works"];
  await until("all have spoken", async () => (await wordsOfWorkers()).length >= words.length);
  expect(await wordsOfWorkers()).toEqual(words);
});

test("a background process that fails leaves the application alone, and says why", async () => {
  const path = `${instance}/background-processes`;
  const order = { type: "custom", processes: 1, command: "echo no queue here; exit 3" };
  const { body } = await pilvi.api<{ data: Process }>("POST", path, order);
  await until("it says why", async () => {
    const failing = (await background()).find(({ id }) => id === body.data.id);
    return failing?.meta.last_error?.includes("no queue here") === true;
  });
  expect(await answers()).toHaveLength(2);
  const { attributes, meta } = await application.environment();
  expect([attributes.status, meta.last_error]).toEqual(["running", null]);
  expect((await pilvi.api("DELETE", `/background-processes/${body.data.id}`)).status).toBe(204);
  await until("it is gone", () => processFolders() === 6);
});

test("the numbers of replicas and of processes follow their order, and a stop ends all", async () => {
  const [worker, mail] = await background();
  await pilvi.api("PATCH", `/background-processes/${worker?.id}`, { processes: 3 });
  await untilRunning([6, 2]);
  const refused = await pilvi.api("PATCH", `/background-processes/${mail?.id}`, { command: "true" });
  expect(refused.status).toBe(422);
  expect((await pilvi.api("DELETE", `/background-processes/${mail?.id}`)).status).toBe(422);
  await pilvi.api("PATCH", instance, { scaling_type: "none" });
  await untilRunning([3, 1]);
  await until("one replica is left", () => processFolders() === 5);
  expect(await answers()).toHaveLength(1);
  expect(await application.text()).toStartWith("two ");
  await pilvi.api("POST", `/environments/${application.environmentId}/stop`);
  await until("nothing runs", () => processFolders() === 0);
});
