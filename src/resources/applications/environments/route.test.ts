// The changes of a route during one run: the last of them has the latest settings and the latest instances.
import { beforeEach, describe, expect, test } from "bun:test";
import type { EdgeRoute } from "../../../contracts/edge-route.ts";
import type { Driver } from "../../../drivers/driver.ts";
import type { EdgeSettings } from "../../../lib/edge-settings.ts";
import { EnvironmentRoute } from "./route.ts";
import { DEFAULT_SETTINGS, type EnvironmentSettings } from "./settings.ts";
import type { EnvironmentRow } from "./store.ts";

const EDGE = { domain: "localhost", httpPort: 80, httpsPort: null } as unknown as EdgeSettings;

/** What the host was asked for, in the order in which it came there. */
let routes: EdgeRoute[];
let stored: EnvironmentRow;
let route: EnvironmentRoute;
/** What the host waits for before it has a route. */
let delay: Promise<void>;
let answer: () => Promise<{ status: number; port: number | null }>;

beforeEach(() => {
  routes = [];
  delay = Promise.resolve();
  answer = () => Promise.resolve({ status: 200, port: 1 });
  store({});
  const driver: Pick<Driver, "ensureRoute" | "probeEdge"> = {
    ensureRoute: async (wanted) => {
      await delay;
      routes.push(wanted);
    },
    probeEdge: () => answer(),
  };
  route = new EnvironmentRoute({
    host: { driver: driver as Driver },
    edge: EDGE,
    load: () => Promise.resolve(stored),
  });
});

function store(settings: Partial<EnvironmentSettings>): void {
  stored = {
    id: "env-1",
    vanityName: "shop",
    settings: { ...DEFAULT_SETTINGS, ...settings },
  } as EnvironmentRow;
}

const seen = () => routes.map(({ instances, settings }) => [instances, settings.timeoutSeconds]);

describe("a change of settings", () => {
  test("changes nothing before the run has led the address anywhere, or after its end", async () => {
    await route.follow(stored);
    await route.lead(["a"]);
    await route.end();
    store({ timeout: 7 });
    await route.follow(stored);
    expect(seen()).toEqual([[["a"], 30]]);
  });

  test("leads to the same instances with them, once", async () => {
    await route.lead(["a"]);
    store({ timeout: 7 });
    await route.follow(stored);
    await route.follow(stored);
    expect(seen()).toEqual([
      [["a"], 30],
      [["a"], 7],
    ]);
  });

  test("is not undone by a change of instances that came before it or at the same time", async () => {
    await route.lead(["a"]);
    const { promise, resolve } = Promise.withResolvers<void>();
    delay = promise;
    const earlier = stored;
    const led = route.lead(["b"]);
    store({ timeout: 7 });
    const changes = [led, route.follow(stored), route.lead(["c"]), route.follow(earlier)];
    resolve();
    await Promise.all(changes);
    expect(seen().at(-1)).toEqual([["c"], 7]);
  });

  test("is tried again when the edge did not take it", async () => {
    await route.lead(["a"]);
    store({ timeout: 7 });
    delay = Promise.reject(new Error("away"));
    await expect(route.follow(stored)).rejects.toThrow("did not take");
    delay = Promise.resolve();
    await route.follow(stored);
    expect(seen().at(-1)).toEqual([["a"], 7]);
  });
});

describe("the answer of an address", () => {
  const wanted = { path: null, ports: [1] };

  test("is a fault when another instance gives it", async () => {
    await route.lead(["a"]);
    answer = () => Promise.resolve({ status: 404, port: null });
    await expect(route.ensureAnswered(wanted)).rejects.toThrow("was 404");
  });

  test("is no fault when the environment has lost the address meanwhile", async () => {
    await route.lead(["a"]);
    answer = async () => {
      store({ uses_vanity_domain: false });
      await route.follow(stored);
      return { status: 404, port: null };
    };
    await route.ensureAnswered(wanted);
    expect(routes.at(-1)?.names).toEqual([]);
  });
});
