// The package of the typed client: built, packed and installed as users get it, and used without anything else of Pilvi.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import sdkJson from "../../src/sdk/package.json" with { type: "json" };
import { ROOT } from "../architecture/source.ts";
import { freshDataDir, startPilvi, TOKEN } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";

const BUILD_MS = 120_000;

/** The names of the web's own interfaces are all that the declarations may need. */
const STRICT = "--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022".split(
  " ",
);

const TYPED_PROGRAM = `
import { type CacheResource, type NewCache, PilviClient, PilviError } from "@pilvi/sdk";

const client = new PilviClient({ url: "http://127.0.0.1:7458", token: "secret" });
const wanted: NewCache = {
  type: "platform_valkey", name: "sessions", region: "eu-central-1", size: "valkey-flex-250mb",
};
const { data } = await client.caches.create(wanted);
const cache: CacheResource = data;
const port: number | null = cache.attributes.connection.port;
// @ts-expect-error A cache has no such attribute.
cache.attributes.colour;
// @ts-expect-error There is no such size.
await client.caches.update(cache.id, { size: "enormous" });
// @ts-expect-error A new cache needs a name.
const nameless: NewCache = { type: "platform_valkey", region: "eu-central-1", size: "valkey-flex-250mb" };
// @ts-expect-error There is no such status.
await client.databases.get("db-1", { wait: "bored" });
type DatabaseKind = "databaseSchemas" | "database_snapshots" | "databases";
type ApplicationKind = "applications" | "commands" | "deployments" | "environments";
type Kind = DatabaseKind | ApplicationKind | "cache_snapshots" | "caches" | "websocketApplications" | "websocketServers";
for await (const event of client.events.follow({ filter: { type: ["awake"] } })) {
  const kind: Kind = event.relationships.resource.data.type;
  console.log(kind, port, nameless, PilviError);
}
export const statement = await client.databases.query("db-1", "schema-1", { statement: "select 1" });
`;

let folder: string;
/** The project of a user, with nothing but the package. */
let project: string;
let installed: string;

beforeAll(async () => {
  folder = freshDataDir();
  project = join(folder, "project");
  installed = join(project, "node_modules/@pilvi/sdk");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run(ROOT, ["node", "scripts/build-sdk.mjs", join(folder, "built")]);
  const packed = await run(folder, ["npm", "pack", "./built"]);
  const tarball = join(folder, packed.trim().split("\n").at(-1) ?? "");
  await run(project, ["npm", "install", tarball, "--offline", "--no-audit", "--no-fund"]);
}, BUILD_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program to its end. @throws with its output when it fails. */
async function run(cwd: string, command: string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, npm_config_cache: join(folder, "npm"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

/** Files of the installed package with their texts. */
function files(): [name: string, text: string][] {
  return readdirSync(installed, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[a-z]+$/.test(name))
    .map((name) => [name, readFileSync(join(installed, name), "utf8")]);
}

test("the package has the version of Pilvi, is public, has its license, and depends on nothing", () => {
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  const { private: _, ...members } = sdkJson;
  expect(manifest).toEqual(members);
  expect(sdkJson.version).toBe(packageJson.version);
  expect(readFileSync(join(installed, "LICENSE"), "utf8")).toContain("Apache License");
  expect(readdirSync(join(project, "node_modules/@pilvi"))).toEqual(["sdk"]);
});

test("no file of the package imports a file or a package outside of it", () => {
  const names = new Set(files().map(([name]) => name));
  const imports = files()
    .filter(([name]) => /\.(js|ts)$/.test(name))
    .flatMap(([name, text]) =>
      [...text.matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)].map(([, target = ""]) => ({ name, target })),
    );
  const outside = imports.filter(({ name, target }) => {
    const path = join(name, "..", target);
    return !target.startsWith(".") || ![path, path.replace(/\.js$/, ".d.ts")].some((each) => names.has(each));
  });
  expect(imports.length).toBeGreaterThan(20);
  expect(outside).toEqual([]);
});

test(
  "the tour of its README works by copy and paste in Node",
  async () => {
    const blocks = readFileSync(join(installed, "README.md"), "utf8").matchAll(/^```js\n([\s\S]*?)^```$/gm);
    writeFileSync(join(project, "tour.js"), [...blocks].map(([, code]) => code).join("\n"));
    const pilvi = await startPilvi();
    try {
      const printed = await run(project, ["node", "tour.js"], { PILVI_URL: pilvi.url, PILVI_TOKEN: TOKEN });
      // The order of this event and the next is not fixed.
      const lines = printed.split("\n").filter((line) => line !== "event: started jobs");
      expect(lines).toEqual([
        expect.stringMatching(/^available at port \d+$/),
        "available caches: 1",
        "sessions available",
        "422 [ 'hibernation_timeout' ]",
        "the same cache: true",
        "event: created jobs",
        "event: available jobs",
        "deleted",
        "",
      ]);
      expect(pilvi.instanceFolders()).toEqual([]);
    } finally {
      await pilvi.close();
    }
  },
  BUILD_MS,
);

test("Node reports at once that nothing listens at the address", async () => {
  const program = `
    import { PilviClient, PilviUnreachable } from "@pilvi/sdk";
    const client = new PilviClient({ url: process.env.PILVI_URL, pause: () => { throw new Error("a pause"); } });
    const error = await client.caches.types().catch((thrown) => thrown);
    console.log(error instanceof PilviUnreachable, error.message);`;
  const url = `http://127.0.0.1:${freePort()}`;
  const printed = await run(project, ["node", "--input-type=module", "-e", program], { PILVI_URL: url });
  expect(printed).toBe(`true Pilvi does not answer at ${url}. Start it with: npm start\n`);
});

test(
  "its types stand alone, and a wrong attribute does not compile",
  async () => {
    writeFileSync(join(project, "typed.ts"), TYPED_PROGRAM);
    const compiler = join(ROOT, "node_modules/.bin/tsc");
    for (const resolution of ["nodenext", "preserve"]) {
      const args = [...STRICT, "--module", resolution, "--lib", "es2023,dom,dom.asynciterable", "typed.ts"];
      expect(await run(project, [compiler, ...args])).toBe("");
    }
  },
  BUILD_MS,
);

test("a bundler makes a script for browsers from it, without a part of Node", async () => {
  const entry = join(project, "page.js");
  writeFileSync(entry, `export { PilviClient } from "@pilvi/sdk";`);
  const { outputs, success } = await Bun.build({ entrypoints: [entry], target: "browser" });
  const [script = ""] = await Promise.all(outputs.map(async (output) => await output.text()));
  expect(success).toBe(true);
  expect(script).toContain("Idempotency-Key");
  expect(script).not.toMatch(/node:|\brequire\(|\bprocess\.|\bBun\.|\bBuffer\b|\bfrom "/);
});
