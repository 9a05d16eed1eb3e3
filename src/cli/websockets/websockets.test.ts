// The commands about WebSocket clusters against a server that speaks the documented shapes.
import { afterEach, describe, expect, test } from "bun:test";
import { CommanderError } from "commander";
import {
  bodies,
  closeServers,
  failureOf,
  list,
  noContent,
  one,
  requests,
  serve,
  serveWith,
} from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import { application, cluster, id, path } from "./test-support.ts";

afterEach(closeServers);

const main = application();
const website = application("website", { app_id: "10002" });
const hidden = application("main", { "": [] });

/** Runs a command of the group. @returns its output. */
async function run(url: string, ...args: string[]) {
  const io = fakeIo();
  await runCommand(io, url, "websockets", ...args);
  return io;
}

/** The failure of a command of the group. */
async function failure(url: string, ...args: string[]) {
  return await failureOf(runCommand(fakeIo(), url, "websockets", ...args));
}

describe("a cluster", () => {
  test("is created with defaults, and prints what to try", async () => {
    const url = serve({ "POST /websocket-servers": one(cluster({ status: "creating" }), 201, [main]) });
    const { stdout, stderr } = await run(url, "create", "chat");
    expect(bodies).toEqual([{ name: "chat", type: "builtin", region: "us-east-1", max_connections: 100 }]);
    expect(stdout).toMatch(/^URL +ws:\/\/127\.0\.0\.1:20002 \(clients\), http:\/\/127\.0\.0\.1:20002 /m);
    expect(stdout).toMatch(/^App id +10001\nKey +278d425bdf160c739803\nSecret +7ad3773142a6692b25b8$/m);
    expect(stdout).toContain(`pilvi websockets listen ${id} news\n`);
    expect(stderr).toBe(`Being created. Wait for it with: pilvi websockets show ${id} --wait\n`);
  });

  test("has metrics over the period and in the steps that are asked for", async () => {
    const asked: string[] = [];
    const point = { x: "2026-03-15T08:00:00.000Z", y: [2, 30] };
    const series = { labels: ["received_per_second", "sent_per_second"], average: [2, 30], data: [point] };
    const metrics = { data: { messages: series }, meta: { period: "24h", step: "1m" } };
    const url = serveWith((request) => {
      const { pathname, search } = new URL(request.url);
      if (!pathname.endsWith("/metrics")) return one(cluster())();
      asked.push(search);
      return Response.json(metrics);
    });
    const { stdout } = await run(url, "metrics", id, "--period", "24h", "--step", "1m");
    expect(stdout).toMatch(/^messages sent_per_second +30 +30/m);
    await run(url, "metrics", id);
    expect(asked).toEqual(["?period=24h&step=1m", ""]);
  });

  test("is shown without a secret that the token may not see", async () => {
    const url = serve({ [`GET ${path}`]: one(cluster(), 200, [hidden]) });
    const { stdout } = await run(url, "show", id);
    expect(stdout).toMatch(/^Secret +hidden, .*websockets:credentials/m);
    expect(stdout).not.toContain("Try it");
  });

  test("is shown with the names of several applications, and the settings in force", async () => {
    const resized = cluster({ max_connections: 500, connection_distribution_strategy: "custom" });
    const { stdout } = await run(serve({ [`GET ${path}`]: one(resized, 200, [main, website]) }), "show", id);
    expect(stdout).toMatch(/^Connections +500, 100 in force \(each application has its own number\)$/m);
    expect(stdout).toMatch(/^Applications +main, website$/m);
    expect(stdout).not.toContain("Secret");
  });

  test("is listed, or said to be missing", async () => {
    const { stdout } = await run(serve({ "GET /websocket-servers": list(cluster()) }), "list");
    expect(stdout.split("\n")[1]).toMatch(/^chat +available +100 +0 +us-east-1 +127\.0\.0\.1:20002 +ws-/);
    const empty = await run(serve({ "GET /websocket-servers": list() }), "list");
    expect(empty.stdout).toBe(
      "There are no WebSocket clusters yet. Create one with: pilvi websockets create NAME --wait\n",
    );
  });

  test("is changed, and --wait waits until the change is in force", async () => {
    const updating = one(cluster({ status: "updating", max_connections: 500 }), 200, [main]);
    const available = one(cluster({ max_connections: 500 }), 200, [main]);
    const url = serve({
      [`GET ${path}`]: [updating, updating, available],
      [`PATCH ${path}`]: updating,
    });
    const { stdout, stderr } = await run(url, "update", id, "--max-connections", "500", "--wait");
    expect(bodies).toEqual([{ max_connections: 500 }]);
    expect(stdout).toMatch(/^Status +available$/m);
    expect(stderr).toBe("Waiting for the WebSocket cluster chat to be available\n");
    const later = await run(url, "update", id, "--name", "talk", "--json");
    expect(JSON.parse(later.stdout)).toMatchObject({ data: { id } });
    expect(later.stderr).toContain(`pilvi websockets show ${id} --wait`);
  });
});

describe("an application", () => {
  const ofMain = `/websocket-applications/${main.id}`;
  const routes = {
    [`GET ${path}`]: one(cluster(), 200, [main, website]),
    [`GET ${path}/applications`]: list(main, website),
    [`POST ${path}/applications`]: one(website, 201),
    [`GET ${ofMain}`]: one(main, 200, [cluster()]),
    [`GET /websocket-applications/${website.id}`]: one(website, 200, [cluster()]),
    [`PATCH ${ofMain}`]: one(main),
    [`POST ${ofMain}/rotate-secret`]: one(main),
    [`DELETE ${ofMain}`]: noContent,
  };

  test("is created with the given options", async () => {
    const options =
      "--origin https://example.com --origin *.example.org --no-client-events --ping-interval 30 --max-connections 20";
    const webhook =
      "--webhook https://example.com/hooks --webhook-events cache_miss --webhook-batch --webhook-prefix cache-";
    const args = `apps create ${id} website ${options} ${webhook}`.split(" ");
    const { stdout } = await run(serve(routes), ...args);
    expect(bodies).toEqual([
      {
        name: "website",
        allowed_origins: ["https://example.com", "*.example.org"],
        client_events_enabled: false,
        ping_interval: 30,
        max_connections: 20,
        webhooks: [
          {
            url: "https://example.com/hooks",
            event_types: ["cache_miss"],
            batch_enabled: true,
            filter: { channel_name_starts_with: "cache-" },
          },
        ],
      },
    ]);
    expect(stdout).toMatch(/^App id +10002$/m);
    expect(stdout).toMatch(/^Host +127\.0\.0\.1\nPort +20002$/m);
  });

  test("is found by its name and changed, lists to empty lists too", async () => {
    const url = serve(routes);
    await run(url, "apps", "update", id, "main", "--no-origins", "--no-webhooks", "--client-events");
    await run(url, "apps", "update", id, "main", "--webhook", "https://example.com/");
    await run(url, "apps", "rotate", id, "main", "--grace", "0");
    await run(url, "apps", "rotate", id, "main");
    const usual = ["channel_occupied", "channel_vacated", "member_added", "member_removed"];
    expect(bodies).toEqual([
      { allowed_origins: [], webhooks: [], client_events_enabled: true },
      { webhooks: [{ url: "https://example.com/", event_types: usual }] },
      { grace_seconds: 0 },
      {},
    ]);
  });

  test("is listed, shown and deleted", async () => {
    const url = serve(routes);
    const table = await run(url, "apps", "list", id);
    expect(table.stdout.split("\n")[2]).toMatch(
      /^website +10002 +278d425bdf160c739803 +100 +yes +all +0 +wsa-/,
    );
    const shown = await run(url, "apps", "show", id, "main");
    expect(shown.stdout).toMatch(/^Server asks +after 60 s of silence\nClients ask +after 30 s of silence$/m);
    const gone = await run(url, "apps", "delete", id, "main", "--yes", "--wait");
    expect(gone.stdout).toBe(`Deleted the WebSocket application main (${main.id}).\n`);
  });

  test("of another cluster is not found", async () => {
    const other = { ...main, relationships: { server: { data: null } } };
    const url = serve({ ...routes, [`GET ${ofMain}`]: one(other) });
    expect(await failure(url, "apps", "show", id, main.id)).toEqual({
      text: `There is no WebSocket application with the id ${main.id} in this cluster.`,
      exitCode: 1,
    });
  });
});

describe("wrong usage", () => {
  test.each([
    ["a delete that nobody can confirm", ["delete", "chat"]],
    ["the same of an application", ["apps", "delete", "chat", "main"]],
    ["a change of nothing", ["update", "chat"]],
    ["the same of an application", ["apps", "update", "chat", "main", "--wait"]],
    ["a filter of no webhook", ["apps", "create", "chat", "shop", "--webhook-prefix", "cache-"]],
    ["the same beside a change", ["apps", "update", "chat", "main", "--name", "x", "--webhook-events", "y"]],
  ])("is %s", async (_, args) => {
    const error: unknown = await run(serve({}), ...args).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CommanderError);
    expect(error).toMatchObject({ exitCode: 2 });
    expect(requests).toEqual([]);
  });
});

test("a listener with a count of zero events is wrong usage", async () => {
  const error: unknown = await run(serve({}), "listen", id, "news", "--count", "0").catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CommanderError);
  expect(String(error)).toContain("It must be 1 or more.");
});

function publish(url: string, ...more: string[]) {
  return failure(url, "publish", id, "news", "hello", ...more);
}

function serving(...applications: unknown[]): string {
  return serve({ [`GET ${path}`]: one(cluster(), 200, applications) });
}

describe("a channel cannot be tried", () => {
  test("in a cluster that does not exist", async () => {
    const url = serve({ "GET /websocket-servers": list(cluster()) });
    expect(await failure(url, "listen", "nothing", "news")).toEqual({
      text: "There is no WebSocket cluster named nothing.",
      exitCode: 1,
    });
    expect((await publish(serve({})))?.text).toBe(`There is no WebSocket cluster with the id ${id}.`);
  });

  test("without the application, or with several of its name", async () => {
    expect((await publish(serving(main), "--app", "shop"))?.text).toBe(
      "The WebSocket cluster chat has no application named shop.",
    );
    expect((await publish(serving()))?.text).toContain("pilvi websockets apps create chat NAME");
    expect((await publish(serving(main, main), "--app", "main"))?.text).toBe(
      `2 WebSocket applications are named main. Use the id of one:\n  ${main.id}\n  ${main.id}`,
    );
  });

  test("without the secret, or before the cluster is available", async () => {
    expect((await publish(serving(hidden)))?.text).toBe(
      "This token may not see the application's secret; it needs the ability websockets:credentials.",
    );
    const young = serve({ [`GET ${path}`]: one(cluster({ status: "creating" }), 200, [main]) });
    expect((await publish(young))?.text).toBe(
      `The status of chat is creating. Wait for it with: pilvi websockets show ${id} --wait`,
    );
  });
});
