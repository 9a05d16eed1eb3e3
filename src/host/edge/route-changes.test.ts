// Whether a running edge has every change of its routes, at whatever moment the change comes.
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_POLICY } from "../../contracts/edge-route.ts";
import type { EdgeTable, EngineEdge } from "../../engines/edge.ts";
import { createLog } from "../../lib/log.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import { Edge } from "./edge.ts";

/** More continuations than a change of the routes takes. */
const MANY_TURNS = 100;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

/** An edge that takes each table at once, with a model of its engine. */
class ModelEdge {
  readonly edge: Edge;
  /** The port of the only instance, 0 while it does not run. */
  port = 1_000;
  changes = 0;
  isBroken = false;
  /** Called at the end of the next change, when its continuations are queued. */
  onChanged: () => void = () => {};
  #table: EdgeTable = { names: new Map(), targets: new Map() };

  constructor(dataDir: string) {
    const engine: Pick<EngineEdge, "read" | "change" | "usage"> = {
      read: () => Promise.resolve(this.#table),
      change: (_context, _from, to) => this.#change(to),
      usage: () => Promise.resolve(new Map()),
    };
    const running = { engine: { edge: engine }, context: {} } as unknown as Runnable;
    this.edge = new Edge({
      dataDir,
      certificate: () => null,
      find: () => ({ port: this.port, state: "running", answers: true, wake: () => {} }),
      running: () => running,
      uid: () => null,
      log: createLog("host", "silent"),
    });
  }

  /** The ports that the running edge leads requests to. */
  get ports(): number[] | undefined {
    return this.#table.targets.get("env")?.ports;
  }

  async start(): Promise<void> {
    this.edge.start();
    const settings = { timeoutSeconds: 30, policy: NO_POLICY };
    await this.edge.ensure({ id: "env", names: ["app.test"], instances: ["app-1"], settings });
  }

  /** Gives the instance another port, which the edge is to know. */
  moveTo(port: number): void {
    this.port = port;
    this.edge.changed({ id: "app-1", state: "running" });
  }

  /** Ends the instance, and asks whether the edge leads no request there any more. */
  isFreeAfterEnd(): Promise<boolean> {
    this.port = 0;
    return this.edge.isFree("app-1");
  }

  #change(to: EdgeTable): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.changes += 1;
    queueMicrotask(() => {
      if (this.isBroken) reject(new Error("the edge does not answer"));
      else resolve();
      if (!this.isBroken) this.#table = to;
      this.onChanged();
    });
    return promise;
  }
}

let dataDir: string;
let model: ModelEdge;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "pilvi-edge-"));
  model = new ModelEdge(dataDir);
  await model.start();
});

afterEach(() => {
  jest.useRealTimers();
  model.edge.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test("a change that comes at any step of the change before it reaches the edge", async () => {
  for (let step = 0; step < 10; step += 1) {
    const port = 2_000 + step;
    model.onChanged = () => {
      model.onChanged = () => {};
      void turns(step).then(() => model.moveTo(port));
    };
    model.moveTo(1_000 + step);
    await turns(MANY_TURNS);
    expect([step, model.ports]).toEqual([step, [port]]);
  }
});

test("a caller that waits for the edge has its own change there at the end, whatever was under way", async () => {
  for (let step = 0; step < 10; step += 1) {
    const free = Promise.withResolvers<boolean>();
    model.onChanged = () => {
      model.onChanged = () => {};
      free.resolve(turns(step).then(() => model.isFreeAfterEnd()));
    };
    model.moveTo(1_000 + step);
    expect([step, await free.promise]).toEqual([step, true]);
  }
});

test("an edge that takes no routes is asked once more for a change meanwhile, and then after a pause", async () => {
  jest.useFakeTimers();
  model.isBroken = true;
  model.changes = 0;
  model.onChanged = () => {
    model.onChanged = () => {};
    model.moveTo(2_000);
  };
  model.moveTo(1_001);
  await turns(MANY_TURNS);
  expect(model.changes).toBe(2);
  model.isBroken = false;
  jest.advanceTimersByTime(200);
  await turns(MANY_TURNS);
  expect([model.changes, model.ports]).toEqual([3, [2_000]]);
  jest.advanceTimersByTime(200);
  await turns(MANY_TURNS);
  expect(model.changes).toBe(3);
});
