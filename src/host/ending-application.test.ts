// Applications that take their time to end, for an order of the control plane or because their host ends.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { ApplicationHost, applicationSpec } from "../../tests/support/applications/host.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import type { ApplicationSpec } from "../contracts/instance-spec.ts";
import { closeAll } from "./instance/closing.ts";
import type { Instance } from "./instance/instance.ts";
import { KEPT_BYTES } from "./os/engine-log.ts";
import { instanceFolder, releasesDir } from "./os/layout.ts";

const MIB = 1024 ** 2;

/** Goes on when it is asked to end, until a request lets it; requests also have it write without a pause, or not. */
const SERVER = `
let isFlooding = false;
setInterval(() => { if (isFlooding) process.stdout.write("x".repeat(1024 * 1024) + "\\n"); }, 10);
process.on("SIGTERM", () => console.log("ending"));
Bun.serve({ port: Number(process.env.PORT), hostname: process.env.HOST, fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/flood" || pathname === "/rest") isFlooding = pathname === "/flood";
  if (pathname === "/end") { console.log("ended well"); setTimeout(() => process.exit(0), 50); }
  return new Response("served");
} });
`;

let host: ApplicationHost;
let release: string;
let spec: ApplicationSpec;

beforeAll(async () => {
  ({ host, release } = await ApplicationHost.withServer(SERVER));
});

afterAll(() => host.close());

afterEach(() => host.host.remove(spec.id));

async function begin(changes: Partial<ApplicationSpec> = {}): Promise<void> {
  spec = applicationSpec({ release, shutdownTimeoutSeconds: 60, ...changes });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
}

async function ask(path: string): Promise<void> {
  await (await fetch(`http://127.0.0.1:${spec.exposure.port}${path}`, { keepalive: false })).text();
}

const logPath = () => instanceFolder(host.dataDir, spec.id).log;

async function untilLogged(text: string): Promise<void> {
  await until(`the log has ${text}`, async () => (await Bun.file(logPath()).text()).includes(text));
}

/** Floods the log with far more than is kept. */
async function flood(): Promise<void> {
  const { size } = statSync(logPath());
  await ask("/flood");
  await until("the log is flooded", () => statSync(logPath()).size > size + 4 * KEPT_BYTES);
}

async function untilTrimmed(): Promise<void> {
  await until("the log is trimmed", () => statSync(logPath()).blocks * 512 < KEPT_BYTES + 8 * MIB);
}

test("the log of a process is trimmed while it ends, and once more at its end", async () => {
  await begin();
  expect(host.host.endings.end(spec.id)).toBe(true);
  await untilLogged("ending");
  await flood();
  await ask("/rest");
  await untilTrimmed();
  await flood();
  await ask("/end");
  await until("it has ended", () => !host.host.endings.end(spec.id));
  await untilTrimmed();
});

test("a process that the next host finds and cannot run is ended when it is no longer wanted", async () => {
  await begin();
  const folder = join(releasesDir(host.dataDir), release);
  renameSync(folder, `${folder}-away`);
  try {
    await host.restart();
    await until("it has failed", () => host.host.observe(spec.id).lastError !== null);
    expect(host.host.endings.end(spec.id)).toBe(true);
    await untilLogged("ending");
    await ask("/end");
    await until("it has ended", () => !host.host.endings.end(spec.id));
  } finally {
    renameSync(`${folder}-away`, folder);
  }
});

test("a host that ends kills applications that would outlast it, and no other engine", async () => {
  const programs = [Bun.spawn(["sleep", "97"]), Bun.spawn(["sleep", "97"])];
  const [application, other] = programs;
  const instances = programs.map(({ pid, exited }, index) => {
    const kind = index === 0 ? "application" : "cache";
    return { source: { manifest: { spec: { kind } } }, liveProcess: { pid }, close: () => exited };
  });
  const closed = closeAll(instances as unknown as Instance[], 200);
  await application?.exited;
  expect(application?.signalCode).toBe("SIGKILL");
  expect(other?.exitCode).toBeNull();
  other?.kill();
  await closed;
});
