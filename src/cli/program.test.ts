// The program as a shell sees it: exit codes, and the texts of its two outputs.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sampleCache } from "./test-support.ts";

const main = join(import.meta.dirname, "..", "main.ts");
const dataDir = mkdtempSync(join(tmpdir(), "pilvi-cli-"));
const tokens: (string | null)[] = [];

const server = Bun.serve({
  port: 0,
  fetch(request) {
    tokens.push(request.headers.get("authorization"));
    const data = Array.from({ length: 2000 }, (_, index) => sampleCache(index));
    return Response.json({ data, links: {}, meta: {} });
  },
});

beforeAll(() => writeFileSync(join(dataDir, "token"), "stored-token\n"));

afterAll(async () => {
  await server.stop(true);
  rmSync(dataDir, { recursive: true });
});

/** Runs the program with only these settings. */
async function pilvi(args: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, main, ...args], {
    env: { PILVI_DATA_DIR: dataDir, PILVI_PORT: String(server.port), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, exitCode };
}

test("the program without a command prints help, which is not a failure", async () => {
  const { stdout, stderr, exitCode } = await pilvi([]);
  expect(stdout).toStartWith("Usage: pilvi");
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
});

test("help goes down to the last command", async () => {
  const { stdout, exitCode } = await pilvi(["help", "caches", "create"]);
  expect(stdout).toStartWith("Usage: pilvi caches create [options] <name>");
  expect(exitCode).toBe(0);
});

test("words after a command are not taken for commands", async () => {
  const { stdout, exitCode } = await pilvi(["help", "run", "ls"]);
  expect(stdout).toStartWith("Usage: pilvi run [options] <command...>");
  expect(exitCode).toBe(0);
});

test.each([
  ["an unknown command", ["cachse"]],
  ["an unknown command of a group", ["caches", "destroy"]],
  ["a group without a command", ["caches"]],
  ["an unknown option", ["caches", "list", "--colour"]],
  ["a missing argument", ["caches", "create"]],
  ["a bad value", ["caches", "create", "x", "--timeout", "soon"]],
  ["a delete that nobody can confirm", ["caches", "delete", "sessions"]],
  ["help about an unknown command", ["help", "cachse"]],
  ["help about an unknown command of a group", ["help", "caches", "destroy"]],
  ["an unknown command with --help", ["caches", "destroy", "--help"]],
  ["a token without a name", ["token", "create", "--name", ""]],
  ["a token whose name a terminal would obey", ["token", "create", "--name", "a\nb"]],
  ["a token with a name without end", ["token", "create", "--name", "n".repeat(101)]],
  ["a token of an organization without a name", ["token", "create", "--name", "x", "--organization", " "]],
  ["a token of an organization with a letter", ["token", "create", "--name", "x", "--organization", "a"]],
])("%s is wrong usage", async (_, args) => {
  const { stdout, stderr, exitCode } = await pilvi(args);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  expect(stderr).not.toBe("");
});

test("the stored token is used for this machine only", async () => {
  expect((await pilvi(["caches", "list"])).exitCode).toBe(0);
  expect(tokens.at(-1)).toBe("Bearer stored-token");
  const { stderr, exitCode } = await pilvi(["caches", "list"], { PILVI_URL: "http://127.example.invalid" });
  expect({ stderr, exitCode }).toEqual({
    stderr: "Set PILVI_TOKEN to a token of http://127.example.invalid. The stored one is not sent there.\n",
    exitCode: 1,
  });
});

test("a missing token is reported with the variable and the file", async () => {
  const { stderr, exitCode } = await pilvi(["caches", "list"], { PILVI_DATA_DIR: "/nonexistent" });
  expect(stderr).toContain("PILVI_TOKEN");
  expect(stderr).toContain("/nonexistent/token");
  expect(exitCode).toBe(1);
});

test.skipIf(process.getuid?.() === 0)("an unreadable token is an error that says so", async () => {
  const otherDir = mkdtempSync(join(tmpdir(), "pilvi-cli-"));
  writeFileSync(join(otherDir, "token"), "t");
  chmodSync(join(otherDir, "token"), 0);
  const { stderr, exitCode } = await pilvi(["caches", "list"], { PILVI_DATA_DIR: otherDir });
  rmSync(otherDir, { recursive: true });
  expect(stderr).toContain("Run this as the user who runs Pilvi");
  expect(exitCode).toBe(1);
});

test("a Pilvi that does not run is reported with how to start it", async () => {
  const closed = Bun.serve({ port: 0, fetch: () => new Response() });
  const url = `http://127.0.0.1:${closed.port}`;
  await closed.stop(true);
  const { stderr, exitCode } = await pilvi(["caches", "list"], { PILVI_URL: url });
  expect({ stderr, exitCode }).toEqual({
    stderr: `Pilvi does not answer at ${url}. Start it with: npm start\n`,
    exitCode: 1,
  });
});

test("a reader that leaves early is not a failure", async () => {
  const child = Bun.spawn(
    ["bash", "-c", '"$0" "$1" caches list --json | head -1; echo ${PIPESTATUS[0]}'].concat(
      process.execPath,
      main,
    ),
    {
      env: { PILVI_DATA_DIR: dataDir, PILVI_PORT: String(server.port), PATH: process.env["PATH"] },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  expect(await new Response(child.stdout).text()).toBe("{\n0\n");
  expect(await new Response(child.stderr).text()).toBe("");
});
