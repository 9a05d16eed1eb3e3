// Applications that a later host finds running. An application that has served goes on; any other is judged by its health
// path.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { ApplicationHost, applicationSpec } from "../../tests/support/applications/host.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import type { ApplicationSpec } from "../contracts/instance-spec.ts";

/** Its health path answers 503 from the start, or once it was asked to. */
const SERVER = `
let isIll = process.env.ILL === "yes";
Bun.serve({ port: Number(process.env.PORT), hostname: process.env.HOST, fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/fall-ill") isIll = true;
  return pathname === "/health" && isIll ? new Response("ill", { status: 503 }) : new Response("served");
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

const observed = () => host.host.observe(spec.id);

async function ask(path: string): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${spec.exposure.port}${path}`)).text();
}

test("an application that has served goes on, whatever its health path says by now", async () => {
  spec = applicationSpec({ release, healthPath: "/health" });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  expect(await ask("/fall-ill")).toBe("served");
  const former = host.pidsOf(spec.id);
  for (const time of ["first", "second"]) {
    await host.restart();
    await until(`it is taken up a ${time} time`, () => observed().state === "running");
    expect(observed().lastError).toBeNull();
  }
  expect(host.pidsOf(spec.id)).toEqual(former);
});

test("a release that has not served so far is judged by its health path", async () => {
  spec = applicationSpec({
    release,
    healthPath: "/health",
    startTimeoutSeconds: 15,
    variables: { ILL: "yes" },
  });
  void host.host.ensure(spec);
  await until("it listens", async () => (await ask("/").catch(() => "")) === "served");
  await host.restart();
  await until("it has failed", () => observed().lastError?.includes("/health") === true);
});

test("a process that was started anew after another has served is judged by its health path", async () => {
  spec = applicationSpec({ release, healthPath: "/health", startTimeoutSeconds: 15 });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running" });
  const ill = { ...spec, variables: { ILL: "yes" } };
  void host.host.ensure(ill).catch(() => undefined);
  await until("another listens", async () => (await ask("/health").catch(() => "")) === "ill");
  await host.restart();
  await until("it has failed", () => observed().lastError?.includes("/health") === true);
});
