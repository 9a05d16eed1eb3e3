// The command line against a whole Pilvi: a folder becomes an address, changes, rolls back and goes.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bunServer, type Files } from "../../support/pilvi/applications.ts";
import { startPilvi, TOKEN, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

const PROGRAM = join(import.meta.dir, "../../../src/main.ts");

let pilvi: TestPilvi;
let folder: string;

beforeAll(async () => {
  pilvi = await startPilvi();
  folder = join(mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-cli-")), "web-shop");
}, 60_000);

afterAll(async () => {
  rmSync(dirname(folder), { recursive: true, force: true });
  await pilvi.close();
});

function write(files: Files): void {
  mkdirSync(folder, { recursive: true });
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content);
}

/** Runs a command in the folder as a person would. */
async function run(...args: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
  const child = Bun.spawn([process.execPath, PROGRAM, ...args], {
    cwd: folder,
    env: { ...process.env, PILVI_URL: pilvi.url, PILVI_TOKEN: TOKEN },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, code };
}

/** What the application answers at an address that a command has printed. */
async function answerAt(url: string, path = "/"): Promise<string> {
  const { host } = new URL(url.trim());
  const edge = `http://127.0.0.1:${pilvi.env.PILVI_EDGE_HTTP}`;
  return await (await fetch(`${edge}${path}`, { headers: { host } })).text();
}

describe("the command line", () => {
  let url: string;

  test("makes no application of an empty folder", async () => {
    write({});
    const { stderr, code } = await run("deploy");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `There is nothing to deploy in ${folder}: it has no files, or all are ignored.\n`,
    });
    expect((await run("apps", "list")).stdout).toStartWith("There are no applications yet.");
  });

  test("deploys a folder that is not linked yet, and ends with its address", async () => {
    write(bunServer("one"));
    const { stdout, stderr, code } = await run("deploy");
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("Deployed in") });
    url = stdout;
    expect(await answerAt(url)).toBe("one");
  });

  test("plans without deploying", async () => {
    const { stdout, code } = await run("deploy", "--plan");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Runtime +bun/m);
    expect((await run("deployments")).stdout.trim().split("\n")).toHaveLength(2);
  });

  test("scales what serves, and refuses what it cannot read before it changes anything", async () => {
    const row = /^web +(\d) +(\S+) *$/m;
    expect(row.exec((await run("scale")).stdout)?.slice(1)).toEqual(["1", "flex.g-1vcpu-512mb"]);
    const { stdout } = await run("scale", "web=2:flex.c-1vcpu-256mb");
    expect(row.exec(stdout)?.slice(1)).toEqual(["2", "flex.c-1vcpu-256mb"]);
    expect(await run("scale", "web=3", "mail=1")).toMatchObject({
      code: 1,
      stderr: "Nothing is named mail here. There are: web.\n",
    });
    expect((await run("scale", "web=0")).stderr).toContain("web=0 is no change");
    const refused = await run("scale", "--scheduler", "on");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("a part of Laravel") });
    expect(row.exec((await run("scale", "web=1:flex.g-1vcpu-512mb")).stdout)?.[1]).toBe("1");
    expect(await answerAt(url)).toBe("one");
  });

  test("has a background process run beside an instance of its own, changes and deletes both", async () => {
    const refused = await run("instances", "create", "x", "--size", "huge");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^name: .*\nsize: /) });
    expect((await run("instances", "create", "jobs", "--size", "flex.c-1vcpu-256mb")).code).toBe(0);
    const command = "echo at work; exec sleep 1000";
    expect((await run("processes", "create", "--instance", "jobs", command)).code).toBe(0);
    const row = new RegExp(`^(process-\\S+) +jobs +custom +(\\d) +(\\d of \\d) +${command} *$`, "m");
    let cells: string[] = [];
    const runs = async (text: string) => {
      cells = row.exec((await run("processes", "list")).stdout)?.slice(1) ?? [];
      return cells[2] === text;
    };
    await until("the process runs", async () => await runs("1 of 1"), 30_000);
    const [id = ""] = cells;
    expect(await run("processes", "update", id, "--tries", "3")).toMatchObject({
      code: 1,
      stderr: "config: Only a worker has options.\n",
    });
    expect((await run("processes", "update", id, "--processes", "2")).code).toBe(0);
    await until("both run", async () => await runs("2 of 2"), 30_000);
    expect((await run("instances", "update", "jobs", "--name", "mail")).stdout).toContain("mail");
    expect((await run("processes", "delete", id, "--yes")).code).toBe(0);
    expect((await run("processes", "list")).stdout).toStartWith("There are no background processes.");
    expect(await run("instances", "delete", "web", "--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^id: The instance that serves/),
    });
    expect((await run("instances", "delete", "mail", "--yes")).code).toBe(0);
    expect((await run("instances", "list")).stdout.trim().split("\n")).toHaveLength(2);
  });

  test("ends with 1, the last lines and the former release when the application does not start", async () => {
    write({ "server.ts": `console.error("no database here"); process.exit(3);` });
    const { stderr, code } = await run("deploy");
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("no database here") });
    expect(await answerAt(url)).toBe("one");
  });

  test("rolls back, and sets a variable", async () => {
    write(bunServer("two"));
    expect((await run("deploy", "--json")).code).toBe(0);
    expect(await answerAt(url)).toBe("two");
    expect((await run("rollback")).code).toBe(0);
    expect(await answerAt(url)).toBe("one");
    expect((await run("env", "set", "GREETING=hello you")).code).toBe(0);
    expect((await run("restart")).code).toBe(0);
    expect(await answerAt(url, "/?variable=GREETING")).toBe("hello you");
  });

  test("shows what the application has written", async () => {
    const { stdout, code } = await run("logs", "--grep", "listens at");
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("one listens at") });
  });

  test("stops it, starts it and deletes it", async () => {
    expect((await run("stop")).code).toBe(0);
    expect((await run("status")).stdout).toMatch(/^Status +stopped$/m);
    expect((await run("start")).code).toBe(0);
    expect((await run("apps", "delete", "web-shop", "--yes", "--wait")).code).toBe(0);
    expect((await run("apps", "list")).stdout).toStartWith("There are no applications yet.");
  });
});
