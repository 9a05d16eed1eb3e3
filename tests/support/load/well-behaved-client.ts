// A program that uses an instance as customers do, again and again, from a process of its own so that the test does not
// delay it. It prints a line for each use, with its milliseconds or its error, and `{"retransmissions": 0}` when it is
// stopped.
import { Redis } from "ioredis";
import { Client } from "pg";
import { Retransmissions } from "./retransmissions.ts";
import type { ClientLine } from "./well-behaved.ts";

const PAUSE_MS = 20;

const [protocol, port, password] = process.argv.slice(2);
const retransmissions = new Retransmissions();

async function usePostgres(): Promise<void> {
  const client = new Client({
    host: "127.0.0.1",
    port: Number(port),
    user: "app",
    password,
    database: "main",
  });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("select 1");
  await client.end();
}

async function useCache(): Promise<void> {
  const client = new Redis({
    host: "127.0.0.1",
    port: Number(port),
    password: password ?? "",
    retryStrategy: () => null,
  });
  client.on("error", () => undefined);
  await client.incr("uses");
  client.disconnect();
}

async function useApi(): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/caches`, {
    headers: { authorization: `Bearer ${password}`, connection: "close" },
  });
  await response.text();
  if (response.status !== 200) throw new Error(`the API answered ${response.status}`);
}

async function useWebsocket(): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/app/${password}?protocol=7`);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("message", () => resolve());
      socket.addEventListener("close", ({ code }) => reject(new Error(`closed with ${code}`)));
    });
  } finally {
    socket.close();
  }
}

const USES: Record<string, () => Promise<void>> = {
  postgres: usePostgres,
  redis: useCache,
  api: useApi,
  websocket: useWebsocket,
};
const use = USES[protocol ?? ""];
if (use === undefined) throw new Error(`nobody knows how to use ${protocol}`);

process.on("SIGTERM", () => {
  print({ retransmissions: retransmissions.most });
  process.exit(0);
});

function print(said: ClientLine): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

for (;;) {
  const began = performance.now();
  try {
    await use();
    print({ ms: performance.now() - began });
  } catch (error) {
    print({ failure: String(error) });
  }
  await Bun.sleep(PAUSE_MS);
}
