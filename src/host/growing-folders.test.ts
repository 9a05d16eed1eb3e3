// Folders of a release that grow: an application adds files to them, in its own memory and within a bound, and finds the
// files of its release as they are.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { applicationSpec, ApplicationHost } from "../../tests/support/applications/host.ts";
import type { ApplicationSpec } from "../contracts/instance-spec.ts";

const MIB = 1024 ** 2;

const RUNTIME = {
  name: "bun",
  writable: ["out/cache/fetched"],
  growing: ["out/cache", "out/server", "other/cache", "linked/cache", "none/cache"],
} as const;

/** Tries to write a file, and says how that went. */
const SERVER = `
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  async fetch(request) {
    const path = "/app" + new URL(request.url).pathname;
    if (request.method === "GET") {
      try { return new Response(readFileSync(path, "utf8")); } catch (error) { return new Response(error.code); }
    }
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, await request.text());
      return new Response("written");
    } catch (error) {
      return new Response(error.code);
    }
  },
});`;

const FILES = {
  "server.js": SERVER,
  "out/cache/config.json": "of the build",
  "out/cache/fetched/page": "of the build",
  "out/server/app/page.js": "of the build",
  "out/server/pages.json": "of the build",
  "other/manifest.json": "of the build",
};

let host: ApplicationHost;
let release: string;

beforeAll(async () => {
  host = new ApplicationHost();
  await host.start();
  const command = "mkdir -p linked/cache && ln -s /etc/passwd linked/cache/users";
  const build = await host.build({ steps: [{ name: "build", command }] }, FILES);
  expect(build.failure).toBeNull();
  release = build.id;
});

afterAll(() => host.close());

async function started(changes: Partial<ApplicationSpec> = {}): Promise<ApplicationSpec> {
  const runtime = { ...RUNTIME, writable: [...RUNTIME.writable], growing: [...RUNTIME.growing] };
  const spec = applicationSpec({ release, runtime, ...changes });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  return spec;
}

async function read({ exposure }: ApplicationSpec, path: string): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${exposure.port}/${path}`)).text();
}

async function write({ exposure }: ApplicationSpec, path: string, text = "new"): Promise<string> {
  const url = `http://127.0.0.1:${exposure.port}/${path}`;
  return await (await fetch(url, { method: "POST", body: text })).text();
}

test("an application adds to its folders, and the files of the build are there and cannot be changed", async () => {
  const spec = await started();
  for (const path of ["cache/config.json", "cache/fetched/page", "server/app/page.js", "server/pages.json"])
    expect(await read(spec, `out/${path}`)).toBe("of the build");
  const added = ["out/cache/images/a", "out/server/route-cache/a", "other/cache/a", "out/cache/fetched/page"];
  for (const path of added) expect([path, await write(spec, path)]).toEqual([path, "written"]);
  for (const path of added) expect(await read(spec, path)).toBe("new");
  for (const path of ["out/server/app/page.js", "out/server/pages.json", "other/manifest.json", "out/x", "x"])
    expect([path, await write(spec, path)]).toEqual([path, "EROFS"]);
});

test("a folder with a link in it does not grow, since a link may lead anywhere", async () => {
  const spec = await started();
  expect(await write(spec, "linked/cache/a")).toBe("EROFS");
  expect(await read(spec, "linked/cache/users")).toStartWith("root:x:0:0:root:/:/bin/false\napp:");
});

test("additions have a bound, and are gone after a restart", async () => {
  const spec = await started({ memoryBytes: 128 * MIB });
  expect(await write(spec, "out/cache/a")).toBe("written");
  expect(await write(spec, "out/cache/large", "x".repeat(17 * MIB))).toBe("ENOSPC");
  expect(await write(spec, "out/server/a")).toBe("written");
  await host.host.ensure({ ...spec, variables: { CHANGED: "1" } });
  expect(await read(spec, "out/cache/a")).toBe("ENOENT");
  expect(await read(spec, "out/cache/config.json")).toBe("of the build");
});

test("a command in the release adds to the same folders", async () => {
  const runtime = { ...RUNTIME, writable: [...RUNTIME.writable], growing: [...RUNTIME.growing] };
  const command =
    "mkdir out/server/route-cache && touch out/server/route-cache/a out/cache/fetched/page && ls out/server";
  const { id } = await host.runIn(release, { runtime, steps: [{ name: "command", command }] });
  expect(await host.texts(id)).toEqual(["app", "pages.json", "route-cache"]);
});
