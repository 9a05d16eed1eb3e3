// The end of a process over two hosts: what the second does depends on what the first has noted.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../lib/log.ts";
import { ensureInstanceFolder, instanceFolder, type InstanceFolder } from "../os/layout.ts";
import { EndOrder } from "./end-order.ts";
import { Ending } from "./ending.ts";
import type { EngineProcess } from "./engine-process.ts";

const log = createLog("host", "silent");

/** Writes a line when it is ready, and another each time it is asked to end, which it does when its input ends. */
const PROGRAM = `
process.on("SIGTERM", () => process.stdout.write("asked "));
process.stdin.on("end", () => process.exit(0)).resume();
process.stdout.write("ready ");
`;

const STOP = { signal: "SIGTERM", timeoutMs: 60_000 } as const;

let dataDir: string;
let folder: InstanceFolder;
const programs: Bun.Subprocess[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "pilvi-ending-"));
  folder = instanceFolder(dataDir, "app-1");
  ensureInstanceFolder(folder);
});

afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.kill("SIGKILL");
    await program.exited;
  }
  rmSync(dataDir, { recursive: true, force: true });
});

async function started() {
  const program = Bun.spawn([process.execPath, "-e", PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
  programs.push(program);
  const reader = program.stdout.getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await next()).toBe("ready ");
  const rest = async () => {
    let text = "";
    for (let part = await next(); part !== ""; part = await next()) text += part;
    return text;
  };
  const exited = program.exited.then(() => undefined);
  const running: EngineProcess = {
    pid: program.pid,
    exited,
    wasFound: true,
    hasServed: true,
    logStartsAt: 0,
  };
  return { program, running, next, rest };
}

/** The order as the next host reads it. */
function orderOfNext(running: EngineProcess | null): EndOrder {
  const order = new EndOrder(folder, log);
  order.read(running);
  return order;
}

function endingOfNext(running: EngineProcess | null): Ending {
  const ending = new Ending({ folder, log });
  ending.order.read(running);
  return ending;
}

test("a process that was asked to end is not asked again, and nothing is left of the order", async () => {
  const { program, running, next, rest } = await started();
  void new Ending({ folder, log }).stop(running, STOP, false);
  expect(await next()).toBe("asked ");
  const ending = endingOfNext(running);
  const stopped = ending.stop(running, STOP, false);
  expect(ending.process).toBe(running);
  await program.stdin.end();
  await stopped;
  expect(await rest()).toBe("");
  expect(existsSync(folder.endOrder)).toBe(false);
});

test("a process that was asked to end is killed when the time that the former host gave it is over", async () => {
  const { program, running, rest } = await started();
  new EndOrder(folder, log).asked(running, 0);
  await endingOfNext(running).stop(running, STOP, false);
  expect(program.signalCode).toBe("SIGKILL");
  expect(await rest()).toBe("");
});

test("a process whose end was ordered, and that was not asked yet, is asked once", async () => {
  const { program, running, next, rest } = await started();
  new EndOrder(folder, log).makeFinal(running);
  const ending = endingOfNext(running);
  expect(ending.order.isFinal).toBe(true);
  const stopped = ending.stop(running, STOP, true);
  expect(await next()).toBe("asked ");
  await program.stdin.end();
  await stopped;
  expect(await rest()).toBe("");
});

test("the order to stay ended outlives the process, until it is taken back", async () => {
  const { running, program } = await started();
  const stopped = new Ending({ folder, log }).stop(running, STOP, true);
  expect(orderOfNext(running).leftMs(running)).toBeWithin(1, 60_001);
  await program.stdin.end();
  await stopped;
  const order = orderOfNext(null);
  expect(order.isFinal).toBe(true);
  expect(order.takeBack()).toBe(true);
  expect(order.takeBack()).toBe(false);
  expect(orderOfNext(null).isFinal).toBe(false);
});

test("the time that is left only shrinks, and no stop makes it longer", async () => {
  const { running, program, rest } = await started();
  const order = new EndOrder(folder, log);
  order.asked(running, 40_000);
  expect(orderOfNext(running).leftMs(running)).toBeWithin(1, 40_001);
  await endingOfNext(running).stop(running, { ...STOP, timeoutMs: 0 }, false);
  expect(program.signalCode).toBe("SIGKILL");
  expect(await rest()).toBe("");
});

test("an order for another process is dropped", async () => {
  const [former, later] = [await started(), await started()];
  const order = new EndOrder(folder, log);
  order.makeFinal(former.running);
  order.asked(former.running, 40_000);
  const found = orderOfNext(later.running);
  expect(found.isFinal).toBe(false);
  expect(found.leftMs(later.running)).toBeNull();
  expect(existsSync(folder.endOrder)).toBe(false);
});

test("an order for a process that had the same number is dropped", async () => {
  const { running } = await started();
  new EndOrder(folder, log).asked(running, 40_000);
  const written = JSON.parse(readFileSync(folder.endOrder, "utf8"));
  writeFileSync(folder.endOrder, JSON.stringify({ ...written, process: `${running.pid} 1` }));
  expect(orderOfNext(running).leftMs(running)).toBeNull();
});

test("an engine that may refuse to end is asked again", async () => {
  const { running, next, program } = await started();
  const how = { ...STOP, mayRefuse: true };
  void new Ending({ folder, log }).stop(running, how, false);
  expect(await next()).toBe("asked ");
  const stopped = endingOfNext(running).stop(running, how, false);
  expect(await next()).toBe("asked ");
  await program.stdin.end();
  await stopped;
});

test("a file that cannot be understood orders nothing", () => {
  writeFileSync(folder.endOrder, '{"isFinal": true');
  expect(orderOfNext(null).isFinal).toBe(false);
});
