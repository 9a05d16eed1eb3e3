// Commands in an environment: with the release and the variables of the application, once, and to a truthful end.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CommandOutput, CommandResource } from "../../../src/resources/applications/commands/schema.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { Failpoints, startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

interface Answer {
  data: CommandResource;
  message?: string;
  errors?: Record<string, string[]>;
}

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  application = await TestApplication.create(pilvi);
});

afterAll(async () => {
  failpoints.release();
  await pilvi.close();
  failpoints.close();
});

const begin = (command: string) =>
  pilvi.api<Answer>("POST", `/environments/${application.environmentId}/commands`, { command });

const read = async (id: string) => (await pilvi.api<Answer>("GET", `/commands/${id}`)).body.data;

const output = async (id: string) => (await pilvi.api<CommandOutput>("GET", `/commands/${id}/output`)).body;

async function ended(id: string): Promise<CommandResource["attributes"]> {
  let { attributes } = await read(id);
  await until(`the command ${id} ends`, async () => {
    ({ attributes } = await read(id));
    return attributes.finished_at !== null;
  });
  return attributes;
}

async function run(command: string): Promise<CommandResource["attributes"]> {
  return await ended((await begin(command)).body.data.id);
}

async function running(command: string): Promise<string> {
  const { id } = (await begin(command)).body.data;
  await until("the command runs", async () => (await read(id)).attributes.status === "command.running");
  return id;
}

const processes = (words: string) => Bun.spawnSync(["pgrep", "-f", words]).stdout.toString();

test("a command before the first deployment, or without a word, is refused", async () => {
  const early = await begin("true");
  expect([early.status, early.body.errors?.environment]).toEqual([
    422,
    [expect.stringContaining("Nothing is deployed yet")],
  ]);
  expect((await application.deploy(bunServer("one"))).attributes.status).toBe("deployment.succeeded");
  const empty = await begin("  ");
  expect([empty.status, Object.keys(empty.body.errors ?? {})]).toEqual([422, ["command"]]);
});

test("a command has the files and the variables of the application, and its output no secret", async () => {
  const variables = [{ key: "API_TOKEN", value: "hush-7f3a91" }];
  const path = `/environments/${application.environmentId}/variables`;
  await pilvi.api("POST", path, { method: "set", variables });
  const { status, body } = await begin(
    `ls server.ts\necho "$PILVI_ENVIRONMENT $API_TOKEN"; bun -e 'console.log(6*7)'`,
  );
  expect([status, body.data.attributes.status, body.data.attributes.output]).toEqual([201, "pending", null]);
  const attributes = await ended(body.data.id);
  expect(attributes).toMatchObject({
    status: "command.success",
    exit_code: 0,
    failure_reason: null,
    output: "server.ts\nproduction [secret]\n42\n",
  });
  expect(attributes.started_at).not.toBeNull();
  expect(JSON.stringify((await pilvi.api("GET", "/events")).body)).not.toContain("hush-7f3a91");
});

test("a command that fails has its exit code, and the list finds it", async () => {
  expect(await run("echo so far; exit 3")).toMatchObject({
    status: "command.failure",
    exit_code: 3,
    failure_reason: "The command ended with the exit code 3; its output says why.",
    output: "so far\n",
  });
  const query = "filter[status]=command.failure&filter[command]=SO%20FAR";
  const path = `/environments/${application.environmentId}/commands?${query}`;
  const { body } = await pilvi.api<{ data: CommandResource[] }>("GET", path);
  expect(body.data.map(({ attributes }) => attributes.exit_code)).toEqual([3]);
});

test("a command runs while the application is stopped, and keeps the end of a long output", async () => {
  await pilvi.api("POST", `/environments/${application.environmentId}/stop`);
  const { id } = (await begin("seq 14000")).body.data;
  const attributes = await ended(id);
  expect(attributes.output).toEndWith("13999\n14000\n");
  expect(attributes.output?.length).toBe(64 * 1024);
  expect((await read(id)).meta.is_output_cut).toBe(true);
  expect((await output(id)).data[0]?.text).toBe("1");
});

test("an output that is longer than what is kept says so", async () => {
  const { id } = (await begin("seq 100000")).body.data;
  await ended(id);
  let [after, isCut, last] = ["0", false, ""];
  for (let isComplete = false; !isComplete && !isCut;) {
    const path = `/commands/${id}/output?after=${after}`;
    const { data, meta } = (await pilvi.api<CommandOutput>("GET", path)).body;
    last = data.at(-1)?.text ?? last;
    [after, isCut, isComplete] = [meta.cursor, meta.is_cut, meta.is_complete];
  }
  expect([isCut, /^\d+$/.test(last)]).toEqual([true, true]);
});

test("output is read while a command runs, and a cancel ends all of it", async () => {
  const id = await running("echo begun; sleep 951 & sleep 951");
  await until("there is output", async () => (await output(id)).data.length > 0);
  const { data, meta } = await output(id);
  expect([data.map(({ text }) => text), meta.is_complete]).toEqual([["begun"], false]);
  expect((await pilvi.api("POST", `/commands/${id}/cancel`)).status).toBe(200);
  expect(await ended(id)).toMatchObject({
    status: "command.failure",
    exit_code: null,
    failure_reason: "The command was cancelled.",
    output: "begun\n",
  });
  expect(processes("sleep 951")).toBe("");
  expect((await pilvi.api("POST", `/commands/${id}/cancel`)).status).toBe(200);
});

test("an environment runs five commands at once", async () => {
  const ids = await Promise.all(
    Array.from({ length: 5 }, async () => (await begin("sleep 952")).body.data.id),
  );
  const sixth = await begin("true");
  expect([sixth.status, sixth.body.message]).toEqual([409, expect.stringContaining("5 commands")]);
  await Promise.all(ids.map((id) => pilvi.api("POST", `/commands/${id}/cancel`)));
  await Promise.all(ids.map(ended));
  expect((await run("true")).status).toBe("command.success");
});

test.each(["command.ordered", "command.ended"])(
  "a kill of the control plane at %s runs a command once",
  async (step) => {
    failpoints.arm(step);
    const { id } = (await begin("echo once")).body.data;
    await failpoints.reached();
    pilvi.kill("control");
    failpoints.release();
    await pilvi.untilReady();
    expect(await ended(id)).toMatchObject({ status: "command.success", output: "once\n" });
  },
);

test("a kill of the host ends a command as a failure that says so", async () => {
  const id = await running("echo begun; sleep 953");
  pilvi.kill("host");
  await pilvi.untilReady();
  const attributes = await ended(id);
  expect(attributes).toMatchObject({ status: "command.failure", exit_code: null });
  expect(attributes.failure_reason).toContain("The host ended while the command ran");
  expect(processes("sleep 953")).toBe("");
});

test("the deletion of an application ends its commands", async () => {
  const id = await running("sleep 954");
  await application.delete();
  expect((await pilvi.api("GET", `/commands/${id}`)).status).toBe(404);
  expect(processes("sleep 954")).toBe("");
});
