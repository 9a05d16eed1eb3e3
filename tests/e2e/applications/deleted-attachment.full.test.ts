// An application that cannot start without a cache goes on in its former process when the cache is deleted. That process
// reaches the port of the cache no longer, since another customer may get the port.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CacheResource } from "../../../src/sdk/index.ts";
import { type Files, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

/** A program that starts with a cache alone, and says which ports of its machine it reaches. */
const FILES: Files = {
  "bunfig.toml": "# This program runs on Bun.\n",
  "package.json": JSON.stringify({ name: "shop", private: true, scripts: { start: "bun server.ts" } }),
  "server.ts": `
    if (process.env.REDIS_URL === undefined) throw new Error("There is no cache.");
    const reaches = (port) =>
      Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).then(
        (socket) => (socket.end(), "reached"),
        () => "refused",
      );
    const fetch = async (request) => {
      const { searchParams } = new URL(request.url);
      return new Response(await reaches(Number(searchParams.get("port"))));
    };
    Bun.serve({ port: Number(process.env.PORT), hostname: "127.0.0.1", fetch });
  `,
};

let pilvi: TestPilvi;
let application: TestApplication;
let cache: CacheResource;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  await attachNewCache();
  expect((await application.deploy(FILES)).attributes.status).toBe("deployment.succeeded");
});

afterAll(() => pilvi.close());

async function attachNewCache(): Promise<void> {
  cache = await pilvi.createCache({ name: "attached" });
  const path = `/environments/${application.environmentId}`;
  expect(await pilvi.api("PATCH", path, { cache_id: cache.id })).toMatchObject({ status: 200 });
}

async function reached(port: number): Promise<string> {
  return await application.text(`/?port=${port}`);
}

test("a former process reaches the port of a deleted cache no longer, after a restart of the host neither", async () => {
  const port = cache.attributes.connection.port ?? 0;
  expect(await reached(port)).toBe("reached");
  await pilvi.deleteCache(cache.id);
  // The next owner of the port.
  const successor = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
  try {
    expect(await reached(port)).toBe("refused");
    await until("the application has not started without its cache", async () => {
      const { meta } = await application.environment();
      return meta.last_error !== null;
    });
    expect(await reached(port)).toBe("refused");
    pilvi.kill("host");
    // The next host has taken everything up.
    await pilvi.createCache({ name: "later" });
    expect(await reached(port)).toBe("refused");
  } finally {
    successor.stop(true);
  }
});

test("a cache that is attached to the former process's environment is reached", async () => {
  await attachNewCache();
  const port = cache.attributes.connection.port ?? 0;
  await until("the next process reaches it", async () => (await reached(port)) === "reached");
});
