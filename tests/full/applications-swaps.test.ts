// Swaps of releases under load: no request of clients that keep their connections, or open new ones, fails.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Agent, get } from "node:http";
import { bunServer, TestApplication } from "../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";

const SWAPS = 50;
/** Clients that keep a connection, and clients with a new connection for each request. */
const CLIENTS = { keeping: 4, opening: 2 };

let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
}, 60_000);

afterAll(async () => {
  await pilvi.close();
});

test("no request fails during 50 deployments, and a WebSocket of another environment stays open", async () => {
  const other = await TestApplication.create(pilvi, "Chat");
  await other.deploy(echoServer());
  const socket = await openSocket(other);
  const releases = [
    (await application.deploy(bunServer("one"))).id,
    (await application.deploy(bunServer("two"))).id,
  ] as const;
  // Retired processes of fifty releases at once would be more than a machine of this size has memory for.
  await pilvi.api("PATCH", `/environments/${application.environmentId}`, { shutdown_timeout: 1 });
  const load = await startLoad();
  const statuses = [];
  for (let swap = 0; swap < SWAPS; swap += 1) {
    const { attributes } = await application.rollBack(releases[swap % 2 === 0 ? 0 : 1]);
    statuses.push(attributes.status);
  }
  const { answered, faults, texts } = await load.stop();
  expect(faults).toEqual([]);
  expect(statuses).toEqual(Array.from({ length: SWAPS }, () => "deployment.succeeded"));
  expect(answered).toBeGreaterThan(SWAPS);
  expect([...texts].sort()).toEqual(["one", "two"]);
  expect(await socket.echo("still here")).toBe("still here");
  socket.close();
}, 400_000);

/** Clients that ask one after the other until they are stopped. */
async function startLoad() {
  const { attributes } = await application.environment();
  const agents = Array.from({ length: CLIENTS.keeping }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const [faults, texts] = [[] as string[], new Set<string>()];
  const over = new AbortController();
  let answered = 0;
  const ask = (agent: Agent | false) =>
    new Promise<void>((resolve) => {
      const port = Number(pilvi.env.PILVI_EDGE_HTTP);
      const request = get(
        { host: "127.0.0.1", port, agent, headers: { host: attributes.vanity_domain } },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part) => (text += part));
          response.on("end", () => {
            answered += 1;
            texts.add(text);
            if (response.statusCode !== 200) faults.push(`${response.statusCode} ${text.slice(0, 100)}`);
            resolve();
          });
        },
      );
      request.on("error", (error) => {
        faults.push(String(error));
        resolve();
      });
    });
  const clients = [...agents, ...Array.from({ length: CLIENTS.opening }, () => false as const)].map(
    async (agent) => {
      while (!over.signal.aborted) await ask(agent);
    },
  );
  return {
    async stop() {
      over.abort();
      await Promise.all(clients);
      for (const agent of agents) agent.destroy();
      return { answered, faults, texts };
    },
  };
}

/** A server of WebSockets that sends back what it gets. */
function echoServer() {
  const files = bunServer("echo");
  files["server.ts"] = `
    Bun.serve({
      port: Number(process.env.PORT),
      fetch: (request, server) => (server.upgrade(request) ? undefined : new Response("echo")),
      websocket: { message: (socket, text) => void socket.send(text) },
    });
  `;
  return files;
}

async function openSocket(to: TestApplication) {
  const { attributes } = await to.environment();
  const socket = new WebSocket(`ws://127.0.0.1:${pilvi.env.PILVI_EDGE_HTTP}/`, {
    headers: { host: attributes.vanity_domain },
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  return {
    echo: (text: string) =>
      new Promise<string>((resolve, reject) => {
        socket.addEventListener("message", ({ data }) => resolve(String(data)), { once: true });
        socket.addEventListener("close", () => reject(new Error("the socket was closed")), { once: true });
        socket.send(text);
      }),
    close: () => socket.close(),
  };
}
