// Changes of routes at a real edge: in force at once, at the cost of no request, and kept when anything is killed.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { LoneEdge, routeOf } from "../../../tests/support/engines/lone-edge.ts";
import { answerOf, named } from "../../../tests/support/engines/named-application.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";

let lone: LoneEdge;

beforeEach(async () => {
  lone = await LoneEdge.start();
});

afterEach(async () => await lone.close());

describe("a change of routes", () => {
  test("is in force when the call returns, without another process", async () => {
    lone.serve("a", named("a"));
    lone.serve("b", named("b"));
    const { pid } = lone.engine;
    await lone.route("a", ["one.localhost", "two.localhost"]);
    await lone.route("b", ["three.localhost"]);
    await lone.route("b", ["two.localhost", "three.localhost"]);
    expect((await answerOf(lone.get("two.localhost"))).name).toBe("b");
    expect(lone.edge.routes().find(({ id }) => id === "a")?.names).toEqual(["one.localhost"]);
    await lone.edge.remove("a");
    await lone.edge.remove("a");
    expect((await lone.get("one.localhost")).status).toBe(404);
    expect((await answerOf(lone.get("two.localhost"))).name).toBe("b");
    expect(lone.engine.pid).toBe(pid);
  });

  test("costs no request under a load of kept and of new connections", async () => {
    lone.serve("r0", named("r0"));
    await lone.route("env", ["env.localhost"], "r0");
    const load = { isOver: false };
    const failures: string[] = [];
    let answered = 0;
    const client = async (init: RequestInit) => {
      while (!load.isOver) {
        const response = await lone.get("env.localhost", "/", init).catch((error: unknown) => String(error));
        if (typeof response === "string" || response.status !== 200)
          failures.push(typeof response === "string" ? response : String(response.status));
        else await response.arrayBuffer();
        answered += 1;
      }
    };
    const kinds: RequestInit[] = [
      {},
      { keepalive: false },
      { method: "POST", body: "x".repeat(2_000) },
      { method: "POST", body: "x", keepalive: false },
    ];
    const clients = [...kinds, ...kinds].map(client);
    for (let swap = 1; swap <= 50; swap += 1) {
      const next = `r${swap}`;
      const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: named(next) });
      lone.add(next, "running", server.port ?? 0);
      await lone.route("env", ["env.localhost"], next);
      expect((await answerOf(lone.get("env.localhost"))).name).toBe(next);
      const before = answered;
      await until("requests reach the new release", () => answered > before + 4);
      lone.keep(server);
    }
    load.isOver = true;
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(200);
  });

  test("costs no request when the former release ends as soon as it has answered what it had", async () => {
    const load = { isOver: false };
    const failures: string[] = [];
    let current = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: named("r0") });
    lone.add("r0", "running", current.port ?? 0);
    await lone.route("env", ["env.localhost"], "r0");
    const kinds: RequestInit[] = [{}, {}, { method: "POST", body: "x" }];
    const answered = kinds.map(() => 0);
    const clients = kinds.map(async (init, client) => {
      while (!load.isOver) {
        const status = await lone.get("env.localhost", "/", init).then((each) => each.status, String);
        if (status !== 200) failures.push(String(status));
        answered[client] = (answered[client] ?? 0) + 1;
      }
    });
    for (let swap = 1; swap <= 20; swap += 1) {
      const former = current;
      current = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: named(`r${swap}`) });
      lone.add(`r${swap}`, "running", current.port ?? 0);
      await lone.route("env", ["env.localhost"], `r${swap}`);
      expect((await answerOf(lone.get("env.localhost"))).name).toBe(`r${swap}`);
      // The edge may have led a request to the former release that has not reached it. A client's second answer is
      // that of a request which began after the change.
      const before = [...answered];
      await until("the former release has answered", () =>
        before.every((count, client) => (answered[client] ?? 0) >= count + 2),
      );
      // The edge has kept connections to it, which end now.
      await former.stop(true);
    }
    load.isOver = true;
    await Promise.all(clients);
    await current.stop(true);
    expect(failures).toEqual([]);
  });

  test("is kept when the edge is killed, and when it comes while there is none", async () => {
    lone.serve("a", named("a"));
    await lone.route("a", ["a.localhost"]);
    await lone.killEngine();
    await lone.route("a", ["a.localhost", "new.localhost"]);
    await lone.startEngine();
    expect((await answerOf(lone.get("new.localhost"))).name).toBe("a");
    expect((await answerOf(lone.get("a.localhost"))).name).toBe("a");
  });

  test("is kept when the host is killed, and the next host changes the edge that runs on", async () => {
    lone.serve("a", named("a"));
    lone.serve("b", named("b"));
    await lone.route("a", ["a.localhost"]);
    await lone.route("gone", ["gone.localhost"], "b");
    lone.killHost();
    expect((await answerOf(lone.get("a.localhost"))).name).toBe("a");
    // While no host runs, the application gets another port.
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: named("moved") });
    lone.keep(server);
    Object.assign(lone.applications.get("a") ?? {}, { port: server.port });
    lone.startHost();
    await lone.edge.remove("gone");
    expect((await answerOf(lone.get("a.localhost"))).name).toBe("moved");
    expect((await lone.get("gone.localhost")).status).toBe(404);
    expect(lone.edge.routes()).toEqual([routeOf("a", ["a.localhost"])]);
  });

  test("does not end a request that is under way", async () => {
    const going = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    lone.serve("old", async () => {
      going.resolve();
      await finish.promise;
      return new Response("old");
    });
    lone.serve("new", () => new Response("new"));
    await lone.route("env", ["env.localhost"], "old");
    const slow = lone.get("env.localhost");
    await going.promise;
    await lone.route("env", ["env.localhost"], "new");
    expect(await (await lone.get("env.localhost")).text()).toBe("new");
    finish.resolve();
    expect(await (await slow).text()).toBe("old");
  });

  test("is in force at once beside thousands of other names", async () => {
    lone.serve("a", named("a"));
    for (let route = 0; route < 50; route += 1) {
      const names = Array.from({ length: 100 }, (_, index) => `n${index}.r${route}.localhost`);
      await lone.route(`r${route}`, names, "a");
    }
    expect((await answerOf(lone.get("n99.r49.localhost"))).name).toBe("a");
    await lone.killEngine();
    await lone.startEngine();
    expect((await answerOf(lone.get("n0.r0.localhost"))).name).toBe("a");
    await lone.route("r7", ["only.localhost"], "a");
    expect((await lone.get("n5.r7.localhost")).status).toBe(404);
    expect((await answerOf(lone.get("only.localhost"))).name).toBe("a");
  });
});
