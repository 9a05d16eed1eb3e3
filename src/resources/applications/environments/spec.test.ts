// The runtimes that builds, commands and processes of a plan get, with the folders that frameworks write to.
import { expect, test } from "bun:test";
import { runtimeSchema } from "../../../contracts/application.ts";
import type { Plan, PlannedRuntime } from "../../../contracts/plan.ts";
import { planOf } from "../../../plan/plan.ts";
import { NO_SETTINGS, sourceOf } from "../../../plan/test-source.ts";
import { backgroundSpecOf, buildRuntime, commandRuntime, type UnplacedSpec } from "./spec.ts";

const AVAILABLE = {
  node: ["22.21.1", "24.11.0"],
  bun: ["1.4.5"],
  deno: [],
  php: ["8.2.29"],
  python: ["3.11.2"],
};
const ASSETS =
  '{"scripts": {"build": "vite build"}, "devDependencies": {"vite": "7"}, "engines": {"node": "22"}}';

function made(files: Record<string, string>): Promise<Plan> {
  return planOf(sourceOf(files), NO_SETTINGS, AVAILABLE);
}

function runtimeOfWorker(plan: Plan, command: string): UnplacedSpec["runtime"] {
  const serving = {} as UnplacedSpec;
  return backgroundSpecOf(serving, plan, { memoryBytes: 1, cpus: 1 }, command).runtime;
}

test("builds and commands of Python, Bun and PHP have the Node.js of the plan", async () => {
  const python = await made({ "main.py": "", "requirements.txt": "", "package.json": ASSETS });
  const bun = await made({
    "bunfig.toml": "",
    "main.ts": "",
    "package-lock.json": "{}",
    "package.json": ASSETS,
  });
  const php = await made({ "index.php": "", "package.json": ASSETS });
  expect(buildRuntime(python)).toEqual({ name: "python", node: "22" });
  expect(commandRuntime(python)).toEqual({ name: "python", node: "22" });
  expect(buildRuntime(bun)).toEqual({ name: "bun", node: "24" });
  expect(commandRuntime(php)).toMatchObject({ name: "php", node: "22" });
});

test("assets that Bun builds have Bun beside Python", async () => {
  const plan = await made({
    "main.py": "",
    "requirements.txt": "",
    "package.json": ASSETS,
    "bun.lock": "{}",
  });
  expect(plan.tools.map(({ name }: PlannedRuntime) => name)).toEqual(["bun"]);
  expect(buildRuntime(plan)).toEqual({ name: "python", node: null });
});

test("a process has Node.js beside it where its command names it, and is left as it was otherwise", async () => {
  const python = await made({ "main.py": "", "requirements.txt": "", "package.json": ASSETS });
  expect(runtimeOfWorker(python, "celery worker")).toEqual({ name: "python" });
  expect(runtimeOfWorker(python, "exec node worker.js")).toEqual({ name: "python", node: "22" });
});

const NEXT = { "package.json": '{"scripts": {"build": "next build"}, "dependencies": {"next": "16"}}' };

/** What Next.js writes to, in its build and in the copy of a standalone build. */
function nextFolders(base: string, standalone: string) {
  return {
    writable: [`${base}/cache/fetch-cache`, `${standalone}/cache/fetch-cache`],
    growing: [`${base}/cache`, `${base}/server`, `${standalone}/cache`, `${standalone}/server`],
  };
}

test("Next.js can add to its caches and its prerendered pages, also in a monorepo", async () => {
  const node = await made(NEXT);
  const runtime = { name: "node" as const, version: "24", ...nextFolders(".next", ".next/standalone/.next") };
  expect(runtimeOfWorker(node, "next start")).toEqual(runtime);
  expect(commandRuntime(node)).toEqual(runtime);
  expect(buildRuntime(node)).toEqual({ name: "node", version: "24" });
  const bun = await made({ ...NEXT, "bun.lock": "" });
  expect(runtimeOfWorker(bun, "bun --bun run start")).toMatchObject({
    name: "bun",
    growing: runtime.growing,
  });
  const member = { ...(await made(NEXT)), rootDirectory: "apps/web" };
  expect(runtimeOfWorker(member, "next start")).toMatchObject(
    nextFolders("apps/web/.next", "apps/web/.next/standalone/apps/web/.next"),
  );
});

test("the host takes the folders of Next.js also below the longest root directory", async () => {
  const rootDirectory = `packages/${"a".repeat(246)}`;
  const runtime = commandRuntime({ ...(await made(NEXT)), rootDirectory });
  expect(runtimeSchema.parse(runtime)).toEqual(runtime);
});
