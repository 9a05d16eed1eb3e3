// The console as the control plane serves it: its page, its files, their sizes and headers, and a second start.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startPilvi, type TestPilvi, until } from "../support/pilvi/pilvi.ts";

const MAX_FIRST_LOAD_BYTES = 250_000;
const BROWSER = { accept: "text/html,application/xhtml+xml" };

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
  await until("the console is built", async () => (await get("/")).status === 200);
});

afterAll(async () => await pilvi.close());

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(pilvi.url + path, { headers, decompress: false });
}

/** The addresses of the files that the page itself names. */
async function filesOfPage(): Promise<string[]> {
  const page = await (await get("/", { "accept-encoding": "identity" })).text();
  return [...page.matchAll(/(?:src|href)="(?<path>\/[^"]+)"/g)].map(({ groups }) => groups?.path ?? "");
}

test("every address of the console has the same page, which is never kept and allows nothing of elsewhere", async () => {
  const [first, deep] = await Promise.all([get("/"), get("/caches/cache-1?x=y", BROWSER)]);
  expect(await deep.bytes()).toEqual(await first.bytes());
  expect(deep.headers.get("cache-control")).toBe("no-cache");
  const policy = deep.headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';");
  expect(policy).not.toContain("unsafe");
  expect(policy).toContain("frame-ancestors 'none'");
});

test("the page holds no script and no style, and names no other host", async () => {
  const page = await (await get("/", { "accept-encoding": "identity" })).text();
  expect(page).not.toMatch(/<style|style=|<script>|\son\w+=/);
  expect(page.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:/);
});

test("files are kept for ever, and are sent compressed to clients that ask for it", async () => {
  for (const path of await filesOfPage()) {
    const [plain, gzip, brotli] = await Promise.all([
      get(path, { "accept-encoding": "identity" }),
      get(path, { "accept-encoding": "gzip" }),
      get(path, { "accept-encoding": "gzip, br" }),
    ]);
    expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(gzip.headers.get("content-encoding")).toBe("gzip");
    expect(brotli.headers.get("content-encoding")).toBe("br");
    const unpacked = Bun.gunzipSync(await gzip.arrayBuffer());
    expect(Buffer.from(unpacked)).toEqual(Buffer.from(await plain.arrayBuffer()));
  }
});

test("the page with all files that it names stays below 250 kB, compressed with gzip", async () => {
  const answers = await Promise.all(
    ["/", ...(await filesOfPage())].map(async (path) => await get(path, { "accept-encoding": "gzip" })),
  );
  const sizes = await Promise.all(answers.map(async (answer) => (await answer.bytes()).length));
  expect(sizes.length).toBeGreaterThan(3);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_FIRST_LOAD_BYTES);
});

test("addresses of programs stay errors in JSON", async () => {
  const paths = [
    "/api",
    "/api/nothing",
    "/assets/main-nothing.js",
    "/assets/..%2findex.html",
    "/docs/nothing",
  ];
  for (const path of paths) {
    const answer = await get(path, BROWSER);
    expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
      path,
      404,
      "application/json",
    ]);
  }
  expect((await get("/caches")).status).toBe(404);
  expect(await (await get("/healthz", BROWSER)).json()).toEqual({ status: "alive" });
  expect((await get("/docs", BROWSER)).status).toBe(200);
});

test("a second start builds nothing and serves the console at once", async () => {
  const folder = join(pilvi.dataDir, "console");
  const builds = () => readdirSync(folder).sort();
  const before = builds();
  expect(before).toEqual([readFileSync(join(folder, "current"), "utf8"), "current"].sort());
  await pilvi.stop();
  await pilvi.start();
  expect((await get("/")).status).toBe(200);
  expect(builds()).toEqual(before);
});
