// How the processes of an environment end: with SIGTERM, and with time for what they have under way.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

/** Tells its log that it was asked to end, and ends a little later, as after the last of its work. */
const goodEnder = (name: string) => `
  const end = (who) => () => { console.log(who + " ends"); setTimeout(() => { console.log(who + " has ended"); process.exit(0); }, 700); };
  if (process.argv[2] === "work") {
    process.on("SIGTERM", end("${name} worker"));
    setInterval(() => {}, 1000);
    console.log("${name} worker works");
  } else {
    process.on("SIGTERM", end("${name}"));
    Bun.serve({ port: Number(process.env.PORT), hostname: "127.0.0.1", fetch: () => new Response("${name}") });
  }
`;

let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  await pilvi.api("PATCH", `/environments/${application.environmentId}`, { shutdown_timeout: 2 });
  await application.deploy(files("one"));
}, 60_000);

afterAll(async () => await pilvi.close());

function files(name: string) {
  const procfile = "web: bun server.ts\nworker: bun server.ts work\n";
  return { ...bunServer(name), "server.ts": goodEnder(name), Procfile: procfile };
}

async function logged(): Promise<string[]> {
  const path = `/environments/${application.environmentId}/logs?type=application&per_page=300`;
  const { body } = await pilvi.api<{ data: { message: string }[] }>("GET", path);
  return body.data.map(({ message }) => message);
}

async function untilLogged(line: string, times = 1): Promise<void> {
  const found = async () => (await logged()).filter((each) => each === line).length;
  await until(`the log says that ${line}`, async () => (await found()) >= times);
}

test("a former process is asked to end once its time is over, and ends its work", async () => {
  await untilLogged("one worker works");
  await application.deploy(files("two"));
  await untilLogged("one has ended");
  expect(await logged()).toContain("one worker has ended");
  expect(await application.text()).toBe("two");
});

test("a stop has all processes end their work, and the environment starts again at once", async () => {
  await untilLogged("two worker works");
  const path = `/environments/${application.environmentId}`;
  await pilvi.api("POST", `${path}/stop`);
  const { body } = await pilvi.api<{ data: { id: string } }>("POST", `${path}/start`, { redeploy: true });
  expect((await application.ended(body.data.id)).attributes.status).toBe("deployment.succeeded");
  expect(await application.text()).toBe("two");
  await untilLogged("two has ended");
  await pilvi.api("POST", `${path}/stop`);
  await untilLogged("two has ended", 2);
  await untilLogged("two worker has ended");
  await until("the edge has noticed", async () => (await application.fetch()).status === 503);
});
