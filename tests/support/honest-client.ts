// A program that uses an instance as customers do, again and again, from a process of its own so that the test does not delay it.
// It prints a line when it has come for the first time, and when it is told to end how long each use took, as
// `{"ms": [...], "failures": [...]}`.
import { Redis } from "ioredis";
import { Client } from "pg";

const PAUSE_MS = 20;

const [protocol, port, password] = process.argv.slice(2);
const ms: number[] = [];
const failures: string[] = [];

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

process.on("SIGTERM", () => {
  process.stdout.write(JSON.stringify({ ms, failures }));
  process.exit(0);
});

for (let isFirst = true; ; isFirst = false) {
  const began = performance.now();
  try {
    await (protocol === "redis" ? useCache() : usePostgres());
    ms.push(performance.now() - began);
  } catch (error) {
    failures.push(String(error));
  }
  if (isFirst) process.stdout.write("\n");
  await Bun.sleep(PAUSE_MS);
}
