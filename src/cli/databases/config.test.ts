// `--config` refuses a member that the type of the cluster does not have, before the command sends anything.
import { afterEach, expect, test } from "bun:test";
import { bodies, closeServers, failureOf, one, requests, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import { typesRoute } from "./test-support.ts";

afterEach(closeServers);

const id = "db-0199f0a2-6c3e-7d5b-9a41-000000000001";
const attributes = { name: "orders", type: "platform_mysql", status: "available" };
const cluster = { [`GET /databases/clusters/${id}`]: one({ id, type: "databases", attributes }) };

const mayNotRead = () => Response.json({ message: "This action is unauthorized." }, { status: 403 });

const refusal = () => Response.json({ message: "Sorry." }, { status: 422 });

/** Runs the command with these settings. */
const run = (url: string, command: string, ...settings: string[]) =>
  runCommand(
    fakeIo(),
    url,
    "databases",
    ...command.split(" "),
    ...settings.flatMap((each) => ["--config", each]),
  );

test("create refuses an unknown member of the config, and lists the members of the type", async () => {
  const url = serve(typesRoute());
  expect(await failureOf(run(url, "create orders", "cu_max=2", "retention_day=7"))).toEqual({
    text: "The config of hosted_serverless_postgres has no member named retention_day. Its members are cu_min, cu_max, suspend_seconds, retention_days.",
    exitCode: 2,
  });
  expect(requests).toEqual(["GET /databases/types"]);
});

test("update refuses a name that only other types have", async () => {
  const url = serve({ ...typesRoute(), ...cluster });
  expect(await failureOf(run(url, `update ${id}`, "cu_max=2"))).toMatchObject({
    text: expect.stringContaining("The config of platform_mysql has no member named cu_max."),
    exitCode: 2,
  });
  expect(requests.filter((each) => !each.startsWith("GET "))).toEqual([]);
});

test("the server refuses a type that it does not know, and a token need not read the types", async () => {
  for (const types of [typesRoute(), { "GET /databases/types": mayNotRead }]) {
    const url = serve({ ...types, "POST /databases/clusters": refusal });
    expect(await failureOf(run(url, "create orders --type nothing", "retention_days=7"))).toEqual({
      text: "Sorry.",
      exitCode: 1,
    });
    expect(bodies.at(-1)).toMatchObject({ config: { retention_days: 7 } });
  }
});
