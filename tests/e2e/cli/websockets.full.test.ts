// The commands about WebSocket clusters against a real Pilvi: from create to delete, with channels tried between.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import Pusher from "pusher-js";
import type {
  WebsocketApplicationDocument,
  WebsocketApplicationResource,
  WebSocketClusterDocument,
} from "../../../src/sdk/index.ts";
import { startPilvi, type TestPilvi, TOKEN } from "../../support/pilvi/pilvi.ts";
import { killIfThere } from "../../support/pilvi/processes.ts";
import { killListeners, Listener } from "./listener.ts";
import { runPilvi } from "../../support/pilvi/program.ts";

const MAIN = join(import.meta.dir, "../../../src/main.ts");

let pilvi: TestPilvi;
let chat: WebSocketClusterDocument;

beforeAll(async () => {
  pilvi = await startPilvi();
  chat = await documentOf<WebSocketClusterDocument>("create", "chat", "--wait", "--json");
});

afterAll(async () => {
  killListeners();
  await pilvi.close();
});

/** The output of a command with `--json`. */
async function documentOf<Document>(...args: string[]): Promise<Document> {
  return JSON.parse(await succeed(...args)) as Document;
}

async function succeed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await pilvi.run("websockets", ...args);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${code} ${stderr}`);
  return stdout;
}

/** Creates an application for a single test. */
async function newApp(name: string, ...options: string[]): Promise<WebsocketApplicationResource> {
  const args = ["apps", "create", "chat", name, ...options, "--wait", "--json"];
  return (await documentOf<WebsocketApplicationDocument>(...args)).data;
}

function listen(...args: string[]): Listener {
  return new Listener(pilvi.env, ...args);
}

describe("a channel", () => {
  test("delivers published events to a listener, until Ctrl-C", async () => {
    const listener = await listen("chat", "news").subscribed();
    const published = await succeed("publish", "chat", "news", "hello", '{"text": "moi"}');
    expect(published).toBe("Published to 1 subscriber of the channel news.\n");
    await listener.printed('  hello  {"text": "moi"}\n');
    expect(await listener.interrupt()).toBe(0);
    expect(listener.stderr).toBe("Listening to news of the application main. Ctrl-C ends it.\n");
    expect(await succeed("publish", "chat", "news", "hello")).toContain("Published to 0 subscribers");
  });

  test("is read by programs, and written to through a pipe", async () => {
    const listener = await listen("chat", "lines", "--event", "line", "--count", "1", "--json").subscribed();
    await succeed("publish", "chat", "lines", "other", "1");
    const child = Bun.spawn([process.execPath, MAIN, "websockets", "publish", "chat", "lines", "line", "-"], {
      env: { ...pilvi.env, PILVI_TOKEN: TOKEN },
      stdin: new Blob(['{"n": 1}\n']),
      stdout: "ignore",
    });
    expect(await child.exited).toBe(0);
    expect(await listener.child.exited).toBe(0);
    expect(JSON.parse(listener.stdout)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      channel: "lines",
      event: "line",
      data: { n: 1 },
    });
  });

  test.each(["private-news", "cache-news", "private-encrypted-news", "#server-to-user-7"])(
    "such as %s lets its listener in",
    async (channel) => {
      const listener = await listen("chat", channel).subscribed();
      expect(await listener.interrupt()).toBe(0);
    },
  );

  test("of one user is written to as well", async () => {
    const listener = await listen("chat", "#server-to-user-8", "--count", "1").subscribed();
    await succeed("publish", "chat", "#server-to-user-8", "hello");
    expect(await listener.child.exited).toBe(0);
  });

  test("has members that see each other, and receive each other's events", async () => {
    const { key, secret } = chat.included?.[0]?.attributes ?? {};
    const listener = await listen("chat", "presence-room", "--user", "42").subscribed();
    const client = new Pusher(key ?? "", {
      cluster: "",
      wsHost: chat.data.attributes.hostname,
      wsPort: chat.data.meta.port,
      forceTLS: false,
      enabledTransports: ["ws"],
      channelAuthorization: {
        transport: "ajax",
        endpoint: "",
        customHandler: ({ socketId, channelName }, callback) => {
          const channelData = JSON.stringify({ user_id: "7" });
          const text = `${socketId}:${channelName}:${channelData}`;
          const signature = new Bun.CryptoHasher("sha256", secret).update(text).digest("hex");
          callback(null, { auth: `${key}:${signature}`, channel_data: channelData });
        },
      },
    });
    const members: unknown[] = [];
    const room = client.subscribe("presence-room");
    room.bind("pusher:subscription_succeeded", (present: { members: Record<string, unknown> }) => {
      members.push(...Object.keys(present.members));
      room.trigger("client-typing", { at: 1 });
    });
    await listener.printed('  pusher:member_added  {"user_id":"7"}\n');
    await listener.printed('  client-typing  {"at":1}  (from 7)\n');
    expect(members.sort()).toEqual(["42", "7"]);
    client.disconnect();
    await listener.printed('  pusher:member_removed  {"user_id":"7"}\n');
    expect(await listener.interrupt()).toBe(0);
  });
});

describe("a listener", () => {
  test("connects again when its cluster was killed", async () => {
    const listener = await listen("chat", "again").subscribed();
    for (const pid of pilvi.enginePids(chat.data.id)) killIfThere(pid);
    await listener.subscribed(2);
    expect(listener.stderr).toContain("The connection is gone (code 1006). Connecting again in 1 s.\n");
    await succeed("show", "chat", "--wait");
    await succeed("publish", "chat", "again", "hello");
    await listener.printed("  hello  {}\n");
    expect(await listener.interrupt()).toBe(0);
  });

  test("ends when its application is deleted", async () => {
    const app = await newApp("short-lived");
    const listener = await listen("chat", "news", "--app", app.id).subscribed();
    expect(await succeed("apps", "delete", "chat", app.id, "--yes", "--wait")).toContain("Deleted");
    expect(await listener.ended()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("does not know the application short-lived (code 4001)."),
    });
  });

  test("is refused above the application's connections", async () => {
    await succeed("create", "tiny", "--wait");
    await succeed("apps", "update", "tiny", "main", "--max-connections", "1", "--wait");
    const first = await listen("tiny", "news").subscribed();
    expect(await listen("tiny", "news").ended()).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /application main, which has 1, are in use \(code 4004\)\. Order more with: /,
      ),
    });
    expect(await first.interrupt()).toBe(0);
  });

  test("ends when its origin is no longer allowed, and then names an allowed origin", async () => {
    await newApp("strict");
    const listener = await listen("chat", "news", "--app", "strict").subscribed();
    await succeed("apps", "update", "chat", "strict", "--origin", "*.example.com", "--wait");
    expect(await listener.ended()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/closed the connection for good: Origin not allowed \(code 4009\)\.\n$/),
    });
    const next = await listen("chat", "news", "--app", "strict").subscribed();
    expect(await next.interrupt()).toBe(0);
  });

  test("gets an error for an invalid channel", async () => {
    expect(await listen("chat", "no channel").ended()).toEqual({
      code: 1,
      stderr: "The cluster refuses the channel no channel: Invalid channel name\n",
    });
  });
});

describe("an application", () => {
  test("is created, shown, changed, given a new secret, and deleted", async () => {
    const app = await newApp("website", "--origin", "https://example.com", "--no-client-events");
    expect(app.attributes).toMatchObject({
      allowed_origins: ["https://example.com"],
      client_events_enabled: false,
    });
    expect(await succeed("apps", "list", "chat")).toMatch(
      /^website +\d+ +\w+ +\d+ +no +https:\/\/example\.com +0 /m,
    );
    const change = ["--no-origins", "--client-events", "--webhook", "https://example.com/hooks"];
    const changed = await succeed("apps", "update", "chat", "website", ...change, "--wait");
    expect(changed).toMatch(/^Origins +all$/m);
    expect(changed).toMatch(/^Webhook +https:\/\/example\.com\/hooks: channel_occupied, /m);

    const rotate = ["apps", "rotate", "chat", "website", "--grace", "0", "--wait", "--json"];
    const rotated = (await documentOf<WebsocketApplicationDocument>(...rotate)).data.attributes;
    expect(rotated.key).toBe(app.attributes.key);
    expect(rotated.secret).not.toBe(app.attributes.secret);
    expect(await succeed("apps", "show", "chat", "website")).toContain(rotated.secret ?? "no secret");
    await succeed("publish", "chat", "news", "hello", "--app", "website");
    await succeed("apps", "delete", "chat", "website", "--yes", "--wait");
    expect((await pilvi.run("websockets", "apps", "show", "chat", "website")).stderr).toBe(
      "There is no WebSocket application named website.\n",
    );
  });
});

describe("a cluster", () => {
  test("is listed, shown, changed and deleted", async () => {
    const made = await succeed("create", "other", "--max-connections", "200", "--wait");
    expect(made).toMatch(/^Connections +200 \(split evenly/m);
    expect(await succeed("list")).toMatch(/^other +available +200 +1 +us-east-1 +127\.0\.0\.1:\d+ +ws-/m);
    const changed = await succeed(
      "update",
      "other",
      "--name",
      "another",
      "--max-connections",
      "500",
      "--wait",
    );
    expect(changed).toMatch(/^Name +another$/m);
    expect(changed).toMatch(/^Connections +500 /m);
    expect(await succeed("delete", "another", "--yes", "--wait")).toStartWith(
      "Deleted the WebSocket cluster another (ws-",
    );
  });

  test("with invalid options is refused with an error for each field", async () => {
    const args = ["create", "x", "--max-connections", "7", "--region", "moon", "--type", "big"];
    const { code, stdout, stderr } = await pilvi.run("websockets", ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    for (const field of ["name", "max_connections", "region", "type"]) {
      expect(stderr).toMatch(new RegExp(`^${field}: `, "m"));
    }
  });
});

describe("an impossible request gives an error", () => {
  test.each([
    [["listen", "nothing", "news"], "There is no WebSocket cluster named nothing.\n"],
    [
      ["listen", "chat", "news", "--app", "nothing"],
      "The WebSocket cluster chat has no application named nothing.\n",
    ],
    [
      ["publish", "chat", "no channel", "hello"],
      'The cluster refuses the event: Invalid channel name: "no channel"\n',
    ],
  ])("%p", async (args, shown) => {
    expect(await pilvi.run("websockets", ...args)).toEqual({ code: 1, stdout: "", stderr: shown });
  });

  test("a token without the ability", async () => {
    const abilities = ["--abilities", "websockets:read"];
    const created = await pilvi.run("token", "create", "--name", "reader", ...abilities);
    const env = { ...pilvi.env, PILVI_TOKEN: created.stdout.trim() };
    const listening = await runPilvi(["websockets", "listen", "chat", "news"], env);
    expect(listening).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "This token may not see the application's secret; it needs the ability websockets:credentials.\n",
    });
    expect((await runPilvi(["websockets", "show", "chat"], env)).stdout).not.toContain(
      chat.included?.[0]?.attributes.secret ?? "no secret",
    );
  });
});
