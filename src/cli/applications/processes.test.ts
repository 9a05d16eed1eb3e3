// `pilvi instances` and `pilvi processes` against a server that speaks the documented shapes.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { CommanderError } from "commander";
import { bodies, closeServers, failureOf, list, noContent, one, requests, serve } from "../test-server.ts";
import { type FakeIo, fakeIo, runCommand } from "../test-support.ts";
import {
  APP_ID,
  environmentPath,
  link,
  PROCESS_ID,
  sampleEnvironment,
  sampleInstance,
  sampleProcess,
  temporaryFolder,
} from "./test-support.ts";

const JOBS_ID = "inst-0199f0a2-6c3e-7d5b-9a41-000000000002";
const LINE_ID = "process-0199f0a2-6c3e-7d5b-9a41-000000000002";
const [app, jobs] = [sampleInstance(), sampleInstance({ name: "jobs", type: "service" }, JOBS_ID)];
const worker = sampleProcess({ type: "worker", command: "php artisan queue:work", config: { tries: 3 } });
const line = sampleProcess({ command: "node worker.js", processes: 2 }, "worker", LINE_ID);

const sizes = {
  general: [
    {
      name: "flex.c-1vcpu-256mb",
      label: "Flex",
      description: "1 vCPU · 256 MiB RAM",
      cpu_type: "flex",
      compute_class: "flex.c",
      cpu_count: 1,
      memory_mib: 256,
    },
  ],
};

const routes = {
  "GET /instances/sizes": one(sizes),
  [`GET ${environmentPath}`]: one(sampleEnvironment()),
  [`GET ${environmentPath}/instances`]: list(app, jobs),
  [`POST ${environmentPath}/instances`]: one(jobs, 201),
  [`GET /instances/${APP_ID}`]: one(app),
  [`GET /instances/${JOBS_ID}`]: one(jobs),
  [`PATCH /instances/${APP_ID}`]: one(app),
  [`DELETE /instances/${JOBS_ID}`]: noContent,
  [`GET /instances/${APP_ID}/background-processes`]: list(line),
  [`GET /instances/${JOBS_ID}/background-processes`]: list(worker),
  [`POST /instances/${APP_ID}/background-processes`]: one(sampleProcess(), 201),
  [`POST /instances/${JOBS_ID}/background-processes`]: one(worker, 201),
  [`PATCH /background-processes/${PROCESS_ID}`]: one(worker),
  [`PATCH /background-processes/${LINE_ID}`]: one(line),
  [`DELETE /background-processes/${LINE_ID}`]: noContent,
};

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(async () => {
  folder.remove();
  await closeServers();
});

function scaled(count: number) {
  return { scaling_type: "custom", min_replicas: count, max_replicas: count };
}

async function run(...words: string[]): Promise<FakeIo> {
  const url = serve(routes);
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, ...words);
  return io;
}

describe("instances", () => {
  test("list shows each with its size, and the API's document for programs", async () => {
    const { stdout } = await run("instances", "list");
    expect(stdout).toMatch(/^App +app +flex\.g-1vcpu-512mb +1 +no +inst-/m);
    expect(stdout).toMatch(/^jobs +service /m);
    const { data } = JSON.parse((await run("instances", "list", "--json")).stdout) as { data: unknown[] };
    expect(data).toEqual([app, jobs]);
  });

  test("create and update send what is named, and `web` is what serves", async () => {
    const { stderr } = await run("instances", "create", "jobs");
    expect(stderr).toContain("pilvi processes create --instance 'jobs'");
    await run("instances", "create", "jobs", "--size", "flex.c-1vcpu-256mb", "--replicas", "2");
    await run("instances", "update", "web", "--replicas", "3", "--scheduler");
    const service = { name: "jobs", type: "service" };
    expect(bodies).toEqual([
      { ...service, size: "flex.g-1vcpu-512mb", scaling_type: "none" },
      { ...service, size: "flex.c-1vcpu-256mb", ...scaled(2) },
      { ...scaled(3), uses_scheduler: true },
    ]);
    expect(requests).toContain(`PATCH /instances/${APP_ID}`);
  });

  test("sizes shows what each is, and the API's document for programs", async () => {
    expect((await run("instances", "sizes")).stdout).toMatch(/^flex\.c-1vcpu-256mb +1 vCPU · 256 MiB RAM$/m);
    const { stdout } = await run("instances", "sizes", "--json");
    expect(JSON.parse(stdout)).toEqual({ data: sizes });
  });

  test("delete asks, and an unknown name is said", async () => {
    await expect(run("instances", "delete", "jobs")).rejects.toThrow(CommanderError);
    expect((await run("instances", "delete", "jobs", "--yes")).stdout).toStartWith(
      "Deleted the instance jobs",
    );
    expect(requests).toContain(`DELETE /instances/${JOBS_ID}`);
    expect(await failureOf(run("instances", "delete", "mail", "--yes"))).toEqual({
      text: "There is no instance named mail.",
      exitCode: 1,
    });
  });

  test("update without a change and a wrong number are wrong usage", async () => {
    await expect(run("instances", "update", "jobs")).rejects.toThrow(CommanderError);
    await expect(run("instances", "update", "jobs", "--replicas", "0")).rejects.toThrow(CommanderError);
    expect(bodies).toEqual([]);
  });
});

test("scale with what is no change is wrong usage", async () => {
  expect((await failureOf(run("scale", "web=0")))?.exitCode).toBe(2);
  expect((await failureOf(run("scale", "web")))?.exitCode).toBe(2);
});

describe("processes", () => {
  test("list names those of the Procfile by their lines, and all others by their ids", async () => {
    const { stdout } = await run("processes", "list");
    expect(stdout).toMatch(/^worker +App +custom +2 +1 of 2 +node worker\.js/m);
    expect(stdout).toMatch(new RegExp(`^${PROCESS_ID} +jobs +worker +1 +1 of 1 +php artisan`, "m"));
    const { data } = JSON.parse((await run("processes", "list", "--json")).stdout) as { data: unknown[] };
    expect(data).toEqual([line, worker]);
  });

  test("create takes a command with its own options, or a worker", async () => {
    await run("processes", "create", "--processes", "2", "node", "mail.js", "--json", "a b");
    await run("processes", "create", "--instance", "jobs", "--worker", "--queue", "high,low", "--force");
    expect(bodies).toEqual([
      { type: "custom", command: "node mail.js --json 'a b'", processes: 2 },
      { type: "worker", processes: 1, config: { queue: "high,low", force: true } },
    ]);
    expect(requests).toContain(`POST /instances/${JOBS_ID}/background-processes`);
    await expect(run("processes", "create")).rejects.toThrow(CommanderError);
    await expect(run("processes", "create", "--worker", "node", "mail.js")).rejects.toThrow(CommanderError);
  });

  test("update keeps the options of a worker that are not named, and makes a command of it", async () => {
    await run("processes", "update", PROCESS_ID, "--rest", "5");
    await run("processes", "update", PROCESS_ID, "--command", "node mail.js");
    await run("processes", "update", "worker", "--processes", "3");
    await run("processes", "update", "worker", "--command", "node other.js");
    expect(bodies).toEqual([
      { config: { tries: 3, rest: 5 } },
      { type: "custom", command: "node mail.js" },
      { processes: 3 },
      { command: "node other.js" },
    ]);
    await expect(run("processes", "update", "worker")).rejects.toThrow(CommanderError);
    await expect(run("processes", "update", "worker", "--worker", "--command", "a")).rejects.toThrow(
      CommanderError,
    );
  });

  test("delete asks first, and the error for an unknown name lists the known names", async () => {
    await expect(run("processes", "delete", "worker")).rejects.toThrow(CommanderError);
    const { stdout } = await run("processes", "delete", "worker", "--yes");
    expect(stdout).toBe("Deleted the background process worker (node worker.js).\n");
    expect(requests).toContain(`DELETE /background-processes/${LINE_ID}`);
    expect(await failureOf(run("processes", "delete", "mail", "--yes"))).toEqual({
      text: `There is no background process mail here. There are: worker, ${PROCESS_ID}.`,
      exitCode: 1,
    });
  });
});
