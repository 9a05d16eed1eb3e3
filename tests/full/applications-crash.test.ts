// The crash matrix of deployments: kills of Pilvi's processes at every step of a deployment, of a restart for a changed
// variable, and of a deletion. Each comes to the same end, and no request of a client fails.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { bunServer, TestApplication } from "../support/pilvi/applications.ts";
import { processesOf } from "../support/pilvi/databases.ts";
import { Failpoints, startPilvi, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { shareOf } from "../crash/share.ts";

type Victim = "control" | "host" | "both";

const VICTIMS: Victim[] = ["control", "host", "both"];

const STEPS = {
  deployment: [
    "deployment.planned",
    "host.build.received",
    "host.build.queued",
    "deployment.ordered",
    "deployment.built",
    "environment.placed",
    "environment.started",
    "environment.routed",
    "environment.answered",
    "environment.promoted",
  ],
  change: ["environment.placed", "environment.started", "environment.routed", "environment.promoted"],
  background: ["environment.removed", "environment.background.retired", "environment.background.placed"],
  deletion: ["host.route.forgotten", "environment.removed", "loop.written"],
} as const;

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let application: TestApplication;
/** An application that no scenario touches: each request to it is answered. */
let bystander: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  bystander = await TestApplication.create(pilvi, "Bystander");
  await bystander.deploy(bunServer("bystander"));
}, 60_000);

beforeEach(async () => {
  application = await TestApplication.create(pilvi);
  // The retirement of a process would otherwise still be under way in the next scenario.
  await pilvi.api("PATCH", `/environments/${application.environmentId}`, { shutdown_timeout: 1 });
  await application.deploy(bunServer("one"));
}, 60_000);

afterEach(async () => {
  failpoints.release();
  await application.delete();
}, 60_000);

afterAll(async () => {
  failpoints.release();
  await pilvi.close();
  failpoints.close();
});

async function strike(victim: Victim): Promise<void> {
  const names = victim === "both" ? (["control", "host"] as const) : ([victim] as const);
  pilvi.kill(...names);
  failpoints.release();
  await pilvi.untilReady();
}

/** One process serves, beside it run its background processes, and nothing of others is left. */
async function expectOneProcess(backgroundCount = 0): Promise<void> {
  await until("one process of each application is left", () => {
    const folders = readdirSync(join(pilvi.dataDir, "instances")).filter((name) => name.startsWith("proc-"));
    return folders.length === 2 + backgroundCount;
  });
  expect(await bystander.text()).toBe("bystander");
}

/** The scenarios of an action, each step with each victim. */
function scenariosOf(action: keyof typeof STEPS): [string, Victim][] {
  return shareOf(STEPS[action].flatMap((step) => VICTIMS.map((victim): [string, Victim] => [step, victim])));
}

describe("a deployment", () => {
  test.each(scenariosOf("deployment"))(
    "at %s survives a kill of %s",
    async (step, victim) => {
      failpoints.arm(step);
      const { id } = await application.upload(bunServer("two"));
      await failpoints.reached();
      expect(["one", "two"]).toContain(await application.text());
      await strike(victim);
      const { attributes } = await application.ended(id);
      expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
      expect(await application.text()).toBe("two");
      await expectOneProcess();
    },
    60_000,
  );
});

describe("a deploy command that fails", () => {
  test.each(
    ["deployment.commanded", "deployment.command.noted"].flatMap((step) =>
      VICTIMS.map((victim): [string, Victim] => [step, victim]),
    ),
  )(
    "keeps the former release, with a kill at %s of %s",
    async (step, victim) => {
      const settings = { deploy_command: "echo no such table; exit 3" };
      await pilvi.api("PATCH", `/environments/${application.environmentId}`, settings);
      failpoints.arm(step);
      const { id } = await application.upload(bunServer("two"));
      await failpoints.reached();
      await strike(victim);
      const { attributes } = await application.ended(id);
      expect(attributes.status).toBe("deployment.failed");
      if (victim === "control") expect(attributes.failure_reason).toContain("no such table");
      expect(await application.text()).toBe("one");
      await expectOneProcess();
    },
    60_000,
  );
});

describe("a changed variable", () => {
  test.each(scenariosOf("change"))(
    "at %s survives a kill of %s",
    async (step, victim) => {
      failpoints.arm(step);
      const variables = [{ key: "GREETING", value: step }];
      const path = `/environments/${application.environmentId}/variables`;
      await pilvi.api("POST", path, { method: "set", variables });
      await failpoints.reached();
      await strike(victim);
      await until("the application has the variable", async () => {
        return (await application.text("/?variable=GREETING")) === step;
      });
      await expectOneProcess();
    },
    60_000,
  );
});

/** The host needs longer for another edge than the control plane for its question. */
function strikeEdge(): void {
  for (const pid of processesOf(pilvi, "edge")) killIfThere(pid);
  failpoints.release();
}

describe("a kill of the edge before it is asked", () => {
  test("does not fail a deployment", async () => {
    failpoints.arm("environment.routed");
    const { id } = await application.upload(bunServer("two"));
    await failpoints.reached();
    strikeEdge();
    const { attributes } = await application.ended(id);
    expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
    expect(await application.text()).toBe("two");
  }, 60_000);

  test("does not refuse a changed variable", async () => {
    failpoints.arm("environment.routed");
    const variables = [{ key: "GREETING", value: "hello" }];
    const path = `/environments/${application.environmentId}/variables`;
    await pilvi.api("POST", path, { method: "set", variables });
    await failpoints.reached();
    strikeEdge();
    await until("the application has the variable", async () => {
      const text = await application.text("/?variable=GREETING").catch(() => "");
      return text === "hello";
    });
    // A refusal would stay, unlike what a run under way has noted.
    await until("nothing is wrong", async () => (await application.environment()).meta.last_error === null);
  }, 90_000);
});

describe("a release with background processes", () => {
  const worker = { Procfile: "worker: sleep 997\n" };

  test.each(scenariosOf("background"))(
    "at %s survives a kill of %s",
    async (step, victim) => {
      await application.deploy({ ...bunServer("one"), ...worker });
      await expectOneProcess(1);
      failpoints.arm(step);
      const { id } = await application.upload({ ...bunServer("two"), ...worker });
      await failpoints.reached();
      await strike(victim);
      expect((await application.ended(id)).attributes).toMatchObject({ status: "deployment.succeeded" });
      expect(await application.text()).toBe("two");
      await expectOneProcess(1);
    },
    60_000,
  );
});

function isEnding(): boolean {
  return Bun.spawnSync(["pgrep", "-fx", "sleep 10.125"]).success;
}

describe("a release whose former worker takes long to end", () => {
  const worker = { Procfile: "worker: trap 'sleep 10.125; exit' TERM; sleep 996 & wait\n" };

  test.each(VICTIMS)(
    "survives a kill of %s meanwhile",
    async (victim) => {
      await pilvi.api("PATCH", `/environments/${application.environmentId}`, { shutdown_timeout: 12 });
      await application.deploy({ ...bunServer("one"), ...worker });
      await expectOneProcess(1);
      await application.deploy({ ...bunServer("two"), Procfile: "worker: sleep 997\n" });
      await until("the former worker ends", isEnding);
      await strike(victim);
      expect(await application.text()).toBe("two");
      await expectOneProcess(1);
    },
    120_000,
  );
});

describe("a deletion", () => {
  test.each(scenariosOf("deletion"))(
    "at %s survives a kill of %s",
    async (step, victim) => {
      failpoints.arm(step);
      await pilvi.api("DELETE", `/applications/${application.id}`);
      await failpoints.reached();
      await strike(victim);
      await application.delete();
      for (const folder of ["releases", "repositories", "routes"])
        await until(`one of ${folder} is left`, () => readdirSync(join(pilvi.dataDir, folder)).length === 1);
    },
    60_000,
  );
});
