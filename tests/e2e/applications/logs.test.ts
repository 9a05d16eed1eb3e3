// The log of an environment: what its processes write, requests through the edge, and what happened to them.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type {
  EnvironmentLogEntry,
  EnvironmentLogsDocument,
} from "../../../src/resources/applications/logs/schema.ts";
import { PilviClient } from "../../../src/sdk/index.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, TOKEN, until } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
let application: TestApplication;
let first: string;

/** Writes what the query says, and ends when it says so. */
const TALKER = `
  Bun.serve({
    port: Number(process.env.PORT),
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const say = searchParams.get("say");
      if (say !== null) console.log(say);
      if (pathname === "/lines") for (let line = 0; line < 2000; line += 1) console.log("row " + line);
      if (pathname === "/json")
        console.log(JSON.stringify({ level: "warn", msg: "slow query", channel: "db", ms: 812 }));
      if (pathname === "/error") console.error(new TypeError("no basket"));
      if (pathname === "/crash") { process.stdout.write("last words"); process.exit(7); }
      return new Response("done", { status: pathname === "/missing" ? 404 : 200 });
    },
  });
  console.log("ready to talk");
`;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  first = (await application.deploy({ ...bunServer("talker"), "server.ts": TALKER })).id;
});

afterAll(async () => {
  await pilvi.close();
});

async function page(query: Record<string, string> = {}): Promise<EnvironmentLogsDocument> {
  const path = `/environments/${application.environmentId}/logs?${new URLSearchParams(query)}`;
  const { body, status } = await pilvi.api<EnvironmentLogsDocument>("GET", path);
  expect([status, body]).toEqual([200, body]);
  return body;
}

/** All entries that the query selects, page by page. */
async function all(query: Record<string, string> = {}): Promise<EnvironmentLogEntry[]> {
  const entries: EnvironmentLogEntry[] = [];
  let { data, meta } = await page({ per_page: "300", ...query });
  entries.push(...data);
  while (!meta.is_complete) {
    ({ data, meta } = await page({ per_page: "300", ...query, cursor: meta.cursor }));
    entries.push(...data);
  }
  return entries;
}

/** Waits until there are as many entries. */
async function untilThere(query: Record<string, string>, count = 1): Promise<EnvironmentLogEntry[]> {
  await until("the entries are there", async () => (await all(query)).length >= count);
  return await all(query);
}

/** A browser, whose name has a comma. */
const AGENT =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";

async function ask(): Promise<void> {
  await application.text("/flood");
}

describe("the log of an environment", () => {
  test("has what the application writes, with its process and its deployment", async () => {
    const [entry] = await untilThere({ query: "ready to talk" });
    expect(entry).toMatchObject({ type: "application", level: "info", deployment_id: first, data: null });
    expect(entry?.instance_id).toStartWith("proc-");
    const [started] = await untilThere({ type: "system", query: "was started" });
    expect(started).toMatchObject({ instance_id: entry?.instance_id ?? "" });
  });

  test("has requests, without their queries and without Pilvi's own", async () => {
    await application.fetch("/missing?token=hush", { headers: { "user-agent": AGENT } });
    const [request, ...others] = await untilThere({ type: "access" });
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      message: "GET /missing 404",
      level: "warning",
      instance_id: null,
      data: { status: 404, method: "GET", path: "/missing", ip: "127.0.0.1", user_agent: AGENT },
    });
    expect(JSON.stringify(request)).not.toContain("hush");
  });

  test("reads levels and members of JSON, and joins the trace of an exception", async () => {
    await application.text("/json");
    await application.text("/error");
    const [slow] = await untilThere({ query: "slow query" });
    expect(slow).toMatchObject({
      level: "warning",
      message: "slow query",
      data: { channel: "db", context: { ms: 812 } },
    });
    const [fault] = await untilThere({ type: "exception" });
    expect(fault).toMatchObject({
      level: "error",
      deployment_id: first,
      data: { class: "TypeError", trace: expect.arrayContaining([expect.stringContaining("at ")]) },
    });
    expect(fault?.message).toContain("no basket");
  });

  test("is searched with case and by whole words", async () => {
    await application.text("/?say=Caféteria%20opens");
    await untilThere({ query: "caféteria" });
    expect(await all({ query: "caféteria", case_sensitive: "true" })).toEqual([]);
    expect(await all({ query: "cafét", whole_word: "true" })).toEqual([]);
    expect(await all({ query: "opens", whole_word: "1", type: "application" })).toHaveLength(1);
    const bad = await pilvi.api(
      "GET",
      `/environments/${application.environmentId}/logs?type=noise&cursor=1.2&instances[]=inst-1`,
    );
    expect([bad.status, Object.keys((bad.body as { errors: object }).errors).toSorted()]).toEqual([
      422,
      ["cursor", "instances[]", "type"],
    ]);
  });

  test("has every line once, over a kill of the host and of the control plane", async () => {
    await application.text("/lines");
    pilvi.kill("host", "control");
    await pilvi.untilReady();
    await application.text("/lines");
    // A place in the source, which a trace quotes, has the text as well.
    const written = (await untilThere({ query: "row ", type: "application" }, 4_000)).filter(({ message }) =>
      message.startsWith("row "),
    );
    expect(written).toHaveLength(4_000);
    const numbers = written.map(({ message }) => Number(message.slice(4)));
    expect(numbers).toEqual([...Array(2_000).keys(), ...Array(2_000).keys()]);
  });

  test("has the last words of a crash, and the processes of former deployments", async () => {
    await application.text("/crash").catch(() => "");
    const [words] = await untilThere({ query: "last words" });
    expect(words).toMatchObject({ type: "application", deployment_id: first });
    await untilThere({ type: "system", query: "ended by itself" });
    // The edge asks again for what was not answered, so there may be more than one end. Each start after an end writes
    // once more, which must not come after what the next deployment writes.
    const numberOf = async (query: string) => (await all({ query, type: "application" })).length;
    await until(
      "it has started after its last end",
      async () => (await numberOf("ready to talk")) > (await numberOf("last words")),
    );
    const { id } = await application.deploy(bunServer("second"));
    await untilThere({ query: "second listens" });
    const former = await all({ deployment: first });
    expect(former.map(({ message }) => message)).toContain("last words");
    expect(former.some(({ deployment_id: of }) => of !== first)).toBe(false);
    const [next] = await all({ deployment: id, type: "application" });
    expect(await all({ "instances[]": next?.instance_id ?? "", query: "talk" })).toEqual([]);
    const { data } = await page({ tail: "1", type: "application" });
    expect(data.map(({ message }) => message)).toEqual([expect.stringContaining("second listens")]);
  });

  test("says that the process of a former deployment was ended, and nothing of a crash", async () => {
    await pilvi.api("PATCH", `/environments/${application.environmentId}`, { shutdown_timeout: 1 });
    const former = (await application.deploy(bunServer("former"))).id;
    await application.deploy(bunServer("next"));
    await untilThere({ type: "system", deployment: former, query: "was ended" });
    expect(await all({ type: "system", deployment: former, query: "by itself" })).toEqual([]);
  });

  test("is followed with each entry once, also by a client that comes back", async () => {
    const client = new PilviClient({ url: pilvi.url, token: TOKEN });
    const environments = client.applications.environments(application.id);
    const { meta } = await environments.logs(application.environmentId, { tail: 0 });
    const seen: string[] = [];
    for (let round = 0; round < 2; round += 1) await application.text(`/round-${round}`);
    await untilThere({ query: "/round-" }, 2);
    const ending = new AbortController();
    const { cursor } = meta;
    const options = { cursor, type: "access" as const, signal: ending.signal };
    for await (const { message } of environments.followLogs(application.environmentId, options)) {
      seen.push(message);
      if (seen.length === 1) pilvi.kill("control", "host");
      if (seen.length === 2) await pilvi.untilReady().then(() => application.text("/round-2"));
      if (seen.length === 3) break;
    }
    ending.abort();
    expect(seen).toEqual(["GET /round-0 200", "GET /round-1 200", "GET /round-2 200"]);
  });

  test("counts the requests of a flood that it leaves out", async () => {
    const before = (await all({ type: "access" })).length;
    for (let round = 0; round < 15; round += 1) await Promise.all(Array.from({ length: 100 }, ask));
    const counted = async () => {
      const logged = (await all({ type: "access" })).length - before;
      const said = await all({ type: "system", query: "missing here: there were too many" });
      return logged + said.reduce((sum, { message }) => sum + Number.parseInt(message, 10), 0);
    };
    await until("all requests are in the log or counted", async () => (await counted()) === 1_500);
  });
});
