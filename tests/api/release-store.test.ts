// The store of an earlier release is migrated, and the API lists all its resources with the right credentials.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import { manifestFrom, type Manifest } from "../../src/contracts/manifest.ts";
import { nativeVerifier, scramVerifier } from "../../src/lib/verifiers.ts";
import { sha256Hex } from "../../src/lib/secrets.ts";
import type { OrganizationResource } from "../../src/resources/shared/organization-schema.ts";
import { migrate } from "../../src/store/migrate.ts";
import { migrations } from "../../src/store/migrations.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { freshDatabase } from "../support/engines/postgres.ts";

const RELEASE = resolve(import.meta.dir, "../fixtures/release-f2f4ad0");

/** The members of any resource that the test reads. */
interface Listed {
  id: string;
  attributes: {
    name: string;
    status: string;
    key: string;
    secret: string;
    connection: { port: number; password: string };
  };
}

let api: TestApi;

beforeAll(async () => {
  const db = await freshDatabase([]);
  await db.unsafe(await fileOf("store.sql"));
  await migrate(db, migrations);
  const [host] = await db<{ id: string }[]>`select id from hosts`;
  const key = Buffer.from(await fileOf("key"), "base64");
  api = await startApi({ store: { db, key, hostId: host?.id ?? "" } });
});
afterAll(() => api.stop());

function fileOf(name: string): Promise<string> {
  return Bun.file(`${RELEASE}/${name}`).text();
}

async function manifestOf(name: string): Promise<Manifest> {
  return manifestFrom(await fileOf(`${name}.manifest.json`));
}

async function list(path: string): Promise<Listed[]> {
  const response = await api.request(`/api${path}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Listed[] }).data;
}

async function find(path: string, name: string): Promise<Listed> {
  const found = (await list(path)).find(({ attributes }) => attributes.name === name);
  if (found === undefined) throw new Error(`${name} is not listed`);
  return found;
}

test("all resources of an earlier release's store are listed, and available", async () => {
  const listed = await Promise.all(
    ["/caches", "/databases/clusters", "/websocket-servers"].map((path) => list(path)),
  );
  const names = listed.map((resources) => resources.map(({ attributes }) => attributes.name).sort());
  expect(names).toEqual([["drafts", "queue", "sessions"], ["orders", "shop"], ["live"]]);
  expect(new Set(listed.flat().map(({ attributes }) => attributes.status))).toEqual(new Set(["available"]));
});

test.each([
  ["cache.awake", "/caches", "sessions", (password: string) => sha256Hex(password)],
  ["redis.awake", "/caches", "queue", (password: string) => sha256Hex(password)],
  ["postgres.asleep", "/databases/clusters", "orders", scramVerifier],
  ["mysql.asleep", "/databases/clusters", "shop", (password: string) => nativeVerifier(password)],
])("the password of %s is the one that its engine knows", async (manifest, path, name, verifierOf) => {
  const { spec } = await manifestOf(manifest);
  const { id, attributes } = await find(path, name);
  expect({ id, port: attributes.connection.port }).toEqual({ id: spec.id, port: Number(spec.exposure.port) });
  const verifiers = spec.users.map(({ verifier }) => verifier);
  expect(verifiers).toContain(verifierOf(attributes.connection.password, id));
});

test("databases in clusters of an earlier release's store are listed", async () => {
  for (const name of ["orders", "shop"]) {
    const { id } = await find("/databases/clusters", name);
    const names = (await list(`/databases/clusters/${id}/databases`)).map(
      ({ attributes }) => attributes.name,
    );
    expect(names.sort()).toEqual(["main", "reports"]);
  }
});

test("a WebSocket application of an earlier release's store keeps its settings, key and secret", async () => {
  const { spec } = await manifestOf("realtime.awake");
  const [application] = spec.kind === "realtime" ? spec.applications : [];
  const { id } = await find("/websocket-servers", "live");
  const [listed] = await list(`/websocket-servers/${id}/applications`);
  expect(listed).toMatchObject({
    id: application?.id,
    attributes: {
      key: application?.key,
      secret: application?.secrets[0]?.secret,
      ping_interval: 45,
      webhooks: [
        {
          url: "https://example.com/hooks",
          event_types: ["channel_occupied"],
          filter: { channel_name_starts_with: "presence-" },
        },
      ],
    },
  });
});

test("quotas count the resources of an earlier release's store", async () => {
  const response = await api.request("/api/meta/organization");
  const { data } = (await response.json()) as { data: OrganizationResource };
  const { caches, databases, websockets } = data.meta.quotas;
  expect([caches.used, databases.used, websockets.used]).toEqual([3, 2, 1]);
});
