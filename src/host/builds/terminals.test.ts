// Terminals of commands: a session of their own with keys, sizes and an exit code, and nothing without its client.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ApplicationHost, buildSpec, testId } from "../../../tests/support/applications/host.ts";
import { sandboxByLandlock } from "../../../tests/support/applications/landlock.ts";
import { TerminalClient } from "../../../tests/support/applications/terminal-client.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { TERMINAL_WINDOW } from "../../contracts/terminal.ts";
import type { Driver } from "../../drivers/driver.ts";
import { localDriver } from "../../drivers/local/index.ts";
import { createLog } from "../../lib/log.ts";
import { serveHost } from "../server.ts";
import { TerminalSession } from "./terminal-session.ts";

let host: ApplicationHost;
let release: string;
let driver: Driver;
let stop: () => Promise<void>;

beforeAll(async () => {
  host = new ApplicationHost();
  await host.start();
  ({ id: release } = await host.build({}, { "a.txt": "in the release\n" }));
  const socket = join(host.dataDir, "run", "host.sock");
  stop = serveHost(host.host, socket, createLog("host", "silent"));
  driver = localDriver(socket);
});

afterAll(async () => {
  await stop();
  await host.close();
});

const processes = (words: string) => Bun.spawnSync(["pgrep", "-f", words]).stdout.toString();

const statesOf = (name: string) => Bun.spawnSync(["ps", "-C", name, "-o", "state="]).stdout.toString().trim();

/** Orders a command with a terminal, and waits until it runs. */
async function order(command: string): Promise<string> {
  const id = testId("comm");
  const steps = [{ name: "command", command }];
  await driver.build(buildSpec({ id, release, steps, terminal: true }), null);
  await until("it runs", async () => (await driver.observeBuild(id))?.state === "running");
  return id;
}

async function open(command: string): Promise<TerminalClient> {
  return await TerminalClient.open(driver, await order(command));
}

test("a shell in a terminal has job control, the size of the window, and its exit code", async () => {
  const terminal = await open("exec bash --norc");
  terminal.type("stty -a | grep -o ' iutf8'\r");
  await terminal.shows("\r iutf8");
  terminal.type("PS1='> '; echo $TERM $(stty size); tty; cat a.txt\r");
  await terminal.shows("xterm-256color 24 80\r\n/dev/");
  await terminal.shows("in the release");
  terminal.resize(132, 43);
  terminal.type("echo $(stty size); sleep 981\r");
  await terminal.shows("43 132");
  await until("it sleeps", () => processes("^sleep 981") !== "");
  terminal.type("\u0003");
  await until("the sleep is over", () => processes("^sleep 981") === "");
  terminal.type("exit 7\r");
  expect(await terminal.ended).toEqual({ exit_code: 7, reason: null });
  const build = await host.ended(terminal.id);
  expect([build.state, build.failure?.message]).toEqual([
    "failed",
    "The command ended with the exit code 7.",
  ]);
  expect(await host.texts(terminal.id)).toEqual([build.failure?.message ?? ""]);
});

test("a sandbox without namespaces gives a terminal as well, and ends with it", async () => {
  const other = new ApplicationHost({ sandbox: sandboxByLandlock() });
  await other.start();
  const { id: made } = await other.build({}, {});
  const socket = join(other.dataDir, "run", "host.sock");
  const end = serveHost(other.host, socket, createLog("host", "silent"));
  try {
    const id = testId("comm");
    const steps = [{ name: "command", command: "exec bash --norc" }];
    await other.host.builds.order(
      new Blob([`${JSON.stringify(buildSpec({ id, release: made, steps, terminal: true }))}\n`]).stream(),
    );
    await until("it runs", () => other.host.builds.observe(id)?.state === "running");
    const shell = await TerminalClient.open(localDriver(socket), id);
    shell.type("echo $(tty) > /dev/tty; nohup sleep 987 & sleep 987\r");
    await shell.shows("/dev/pts/");
    await until("it sleeps", () => processes("^sleep 987").trim().split("\n").length === 2);
    shell.type("\u0003");
    await until("one sleeps", () => processes("^sleep 987").trim().split("\n").length === 1);
    shell.close();
    expect((await other.ended(id)).failure?.code).toBe("terminal");
    expect(processes("^sleep 987")).toBe("");
  } finally {
    await end();
    await other.close();
  }
});

test("keys go to the program, and the shell that waits for it outlives them", async () => {
  const terminal = await open("cat; echo after; kill -9 $$");
  terminal.type("line\r");
  await terminal.shows("line\r\nline\r\n");
  terminal.type("\u0004");
  await terminal.shows("after");
  expect(await terminal.ended).toEqual({ exit_code: 137, reason: null });
  const other = await open("set +e; sleep 982; echo interrupted $?");
  await until("it sleeps", () => processes("^sleep 982") !== "");
  other.type("\u0003");
  await other.shows("interrupted 130");
  expect(await other.ended).toEqual({ exit_code: 0, reason: null });
});

test("an endless output waits for a client that does not read", async () => {
  const terminal = await open("trap - INT; exec yes");
  terminal.isReading = false;
  await until("the window is full", () => terminal.received >= TERMINAL_WINDOW);
  await until("the program waits", () => statesOf("yes") === "S");
  expect(terminal.received).toBeLessThan(2 * TERMINAL_WINDOW);
  terminal.read();
  await until("more comes", () => terminal.received >= 4 * TERMINAL_WINDOW);
  terminal.type("\u0003");
  expect(await terminal.ended).toEqual({ exit_code: 130, reason: null });
});

test("input waits for a program that does not read, within a bound", async () => {
  const terminal = await open("stty raw -echo; echo ready; sleep 2; head -c 200000 | wc -c");
  await terminal.shows("ready");
  for (let sent = 0; sent < 200_000; sent += 20_000) terminal.type("x".repeat(20_000));
  await terminal.shows("200000");
  expect(await terminal.ended).toEqual({ exit_code: 0, reason: null });
  const flooded = await open("stty raw; echo ready; sleep 983");
  await flooded.shows("ready");
  for (let sent = 0; sent <= TERMINAL_WINDOW + 100_000; sent += 20_000) flooded.type("x".repeat(20_000));
  expect((await flooded.ended).reason).toContain("more input than it may");
  expect(processes("^sleep 983")).toBe("");
});

test("a terminal has one client, which ends the command when it goes", async () => {
  const id = await order("sleep 984 & nohup sleep 984");
  const terminal = await TerminalClient.open(driver, id);
  await expect(TerminalClient.open(driver, id)).rejects.toThrow("cannot be opened");
  await until("it sleeps", () => processes("^sleep 984") !== "");
  terminal.close();
  const build = await host.ended(id);
  expect(build.failure).toMatchObject({ code: "terminal", message: expect.stringContaining("was lost") });
  expect(processes("^sleep 984")).toBe("");
  await expect(TerminalClient.open(driver, id)).rejects.toThrow("cannot be opened");
});

test("a command that has ended by itself succeeds, also when its client does not wait for the last output", async () => {
  const bytes = TERMINAL_WINDOW + 1_000;
  const terminal = await open(
    `stty raw -echo; echo ready; head -c 1 > /dev/null; head -c ${bytes} /dev/zero`,
  );
  await terminal.shows("ready");
  terminal.isReading = false;
  const pid = Bun.spawnSync(["pgrep", "-f", "-P", String(process.pid), terminal.id])
    .stdout.toString()
    .trim();
  expect(pid).toMatch(/^\d+$/);
  terminal.type("x");
  await until("the command has ended", () => !existsSync(`/proc/${pid}`));
  expect(host.host.builds.observe(terminal.id)?.endedAt).toBeNull();
  terminal.close();
  expect(await host.ended(terminal.id)).toMatchObject({ state: "succeeded", failure: null });
});

test("a frame that is not as agreed ends the command", async () => {
  const terminal = await open("sleep 985");
  terminal.send('{"columns": 0, "rows": 5}');
  await terminal.closed;
  expect((await host.ended(terminal.id)).failure).toMatchObject({ code: "terminal" });
});

test("a cancel ends a terminal at once, also for a client that does not read", async () => {
  const terminal = await open("exec yes");
  terminal.isReading = false;
  await until("the window is full", () => terminal.received >= TERMINAL_WINDOW);
  expect((await driver.cancelBuild(terminal.id)).state).toBe("cancelled");
  expect((await terminal.ended).reason).toBe("The command was cancelled.");
});

test("a command without a client fails, and so does a terminal without a byte", async () => {
  const account = null;
  const { signal } = new AbortController();
  const alone = new TerminalSession(() => undefined, { clientMs: 1 });
  await expect(alone.open(account, signal)).rejects.toThrow("No client has opened the terminal");
  const stopped = Promise.withResolvers<string>();
  const idle = new TerminalSession(({ message }) => stopped.resolve(message), { idleMs: 1, hangupMs: 1 });
  idle.reserve({ columns: 80, rows: 24 });
  idle.attach({ send: () => undefined, close: () => undefined });
  await idle.open(account, signal);
  expect(await stopped.promise).toContain("Nothing was typed or shown for 30 minutes");
  expect(() => idle.throwIfLost()).toThrow("Nothing was typed");
});

test("a host has a bounded number of terminals", async () => {
  const steps = [{ name: "command", command: "true" }];
  const another = () => driver.build(buildSpec({ release, steps, terminal: true }), null);
  const ids: string[] = [];
  for (let count = 0; count < 64; count += 1) ids.push((await another()).id);
  await expect(another()).rejects.toThrow("64 terminals are open on this host");
  await Promise.all(ids.map((id) => driver.cancelBuild(id)));
  await driver.cancelBuild((await another()).id);
});

test("a build, or a command without one, has no terminal", async () => {
  const steps = [{ name: "command", command: "sleep 986" }];
  await expect(driver.build(buildSpec({ steps, terminal: true }), null)).rejects.toThrow("Only a single");
  const { id } = await driver.build(buildSpec({ release, steps }), null);
  await until("it runs", async () => (await driver.observeBuild(id))?.state === "running");
  await expect(TerminalClient.open(driver, id)).rejects.toThrow("cannot be opened");
  await driver.cancelBuild(id);
});
