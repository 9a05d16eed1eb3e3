// Terminals of commands at the API: typed and shown live, for one client with its rights, and not a moment longer.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CommandResource } from "../../../src/resources/applications/commands/schema.ts";
import { TERMINAL_WINDOW } from "../../../src/contracts/terminal.ts";
import { TerminalClient } from "../../support/applications/terminal-client.ts";
import { ApiTerminals } from "../../support/pilvi/api-terminals.ts";
import { frameOf, OPCODE, RawWebSocket } from "../../support/wire/raw-websocket.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, TOKEN, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

interface Answer {
  data: CommandResource;
  message?: string;
}

let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  await application.deploy(bunServer("one"));
}, 120_000);

afterAll(() => pilvi.close());

const begin = (command: string, body: object = { terminal: true }, token = TOKEN) =>
  pilvi.api<Answer>(
    "POST",
    `/environments/${application.environmentId}/commands`,
    { command, ...body },
    { authorization: `Bearer ${token}` },
  );

const terminals = (token = TOKEN) => new ApiTerminals(pilvi.url, { authorization: `Bearer ${token}` });

async function open(command: string, at = terminals()): Promise<TerminalClient> {
  return await TerminalClient.open(at, (await begin(command)).body.data.id);
}

async function ended(id: string): Promise<CommandResource["attributes"]> {
  const read = async () => (await pilvi.api<Answer>("GET", `/commands/${id}`)).body.data.attributes;
  await until(`the command ${id} ends`, async () => (await read()).finished_at !== null);
  return await read();
}

/** The answer to a handshake that is refused. */
async function refusal(id: string, token: string, headers: Record<string, string> = {}) {
  const query = "columns=80&rows=24";
  const handshake = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const response = await fetch(`${pilvi.url}/api/commands/${id}/terminal?${query}`, {
    headers: { authorization: `Bearer ${token}`, ...handshake, ...headers },
  });
  return [response.status, ((await response.json()) as { message: string }).message];
}

async function newToken(name: string, ...options: string[]): Promise<string> {
  const { stdout, stderr } = await pilvi.run("token", "create", "--name", name, ...options);
  if (stdout === "") throw new Error(stderr);
  return stdout.trim();
}

const processes = (words: string) => Bun.spawnSync(["pgrep", "-f", words]).stdout.toString();

test("a person works in a shell of the release, and its exit code is that of the command", async () => {
  const variables = [{ key: "API_TOKEN", value: "hush-7f3a91" }];
  await pilvi.api("POST", `/environments/${application.environmentId}/variables`, {
    method: "set",
    variables,
  });
  const shell = await open("exec bash --norc");
  shell.type("ls server.ts; echo $API_TOKEN $(stty size)\r");
  await shell.shows("server.ts\r\nhush-7f3a91 24 80");
  shell.resize(100, 30);
  shell.type("stty size\r");
  await shell.shows("30 100");
  shell.type(
    'bun -e \'process.stdin.setRawMode(true); console.log("raw"); process.stdin.once("data", (key) => { console.log(`key ${key}`); process.exit(4); })\'\r',
  );
  await shell.shows("raw\r\n");
  shell.type("x");
  await shell.shows("key x");
  shell.type("exit $?\r");
  expect(await shell.ended).toEqual({ exit_code: 4, reason: null });
  expect(await ended(shell.id)).toMatchObject({
    terminal: true,
    status: "command.failure",
    exit_code: 4,
    failure_reason: "The command ended with the exit code 4.",
    output: "",
  });
  const { body } = await pilvi.api("GET", "/activity");
  expect(JSON.stringify(body)).toContain('"terminal":true');
});

test("only tokens of the organization that may run commands and read credentials open a terminal", async () => {
  const able = "applications:read,applications:write";
  const lesser = await newToken("lesser", "--abilities", able);
  const reader = await newToken("reader", "--abilities", "applications:read,applications:credentials");
  const foreign = await newToken("foreign", "--organization", "other");
  expect((await begin("true", { terminal: true }, lesser)).status).toBe(403);
  const { id } = (await begin("sleep 971")).body.data;
  expect(await refusal(id, lesser)).toEqual([403, expect.stringContaining("applications:credentials")]);
  expect(await refusal(id, reader)).toEqual([403, expect.stringContaining("applications:write")]);
  expect(await refusal(id, foreign)).toEqual([404, expect.any(String)]);
  expect((await refusal(id, "nonsense"))[0]).toBe(401);
  expect(await refusal(id, TOKEN, { upgrade: "h2c" })).toEqual([426, "Open this address as a WebSocket."]);
  const terminal = await TerminalClient.open(terminals(), id);
  expect(await refusal(id, TOKEN)).toEqual([409, "The terminal of the command is open already."]);
  terminal.close();
  expect(await ended(id)).toMatchObject({ status: "command.failure", failure_reason: expect.any(String) });
  expect(await refusal(id, TOKEN)).toEqual([409, "The command has ended."]);
  expect(processes("sleep 971")).toBe("");
  const plain = (await begin("true", {})).body.data.id;
  expect((await refusal(plain, TOKEN))[1]).toContain("has no terminal");
});

test("an endless output waits for its client, and a flood of input ends the command", async () => {
  const loud = await open("exec yes");
  loud.isReading = false;
  await until("the window is full", () => loud.received >= TERMINAL_WINDOW);
  loud.read();
  await until("more comes", () => loud.received >= 4 * TERMINAL_WINDOW);
  expect((await pilvi.api("POST", `/commands/${loud.id}/cancel`)).status).toBe(200);
  expect((await loud.ended).reason).toBe("The command was cancelled.");
  const at = terminals();
  const flooded = await open("stty raw; echo ready; exec sleep 972", at);
  await flooded.shows("ready");
  for (let sent = 0; sent <= TERMINAL_WINDOW + 100_000; sent += 20_000) flooded.type("x".repeat(20_000));
  expect(await at.closing).toEqual({ code: 1008, reason: expect.stringContaining("More input came") });
  expect(await ended(flooded.id)).toMatchObject({ failure_reason: expect.stringContaining("was lost") });
  const busy = await open("exec sleep 973", at);
  let isClosed = false;
  const closing = at.closing.finally(() => (isClosed = true));
  await until("too many frames have come within a second", () => {
    for (let sent = 0; sent < 9_000; sent += 1) busy.type("x");
    return isClosed;
  });
  expect((await closing).code).toBe(1008);
  const odd = await open("exec sleep 973", at);
  odd.send("{}");
  expect(await at.closing).toEqual({ code: 1008, reason: "A text frame is not as documented." });
  await Promise.all([ended(busy.id), ended(odd.id)]);
  expect(processes("sleep 97[23]")).toBe("");
});

test("a client that acknowledges what it does not read ends the command", async () => {
  const { id } = (await begin("exec yes")).body.data;
  const client = await RawWebSocket.connect(pilvi.port, {
    path: `/api/commands/${id}/terminal?columns=80&rows=24`,
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  await until("output comes", () => client.frames.some(({ opcode }) => opcode === OPCODE.binary));
  client.socket.pause();
  const isOver = async () => {
    for (let count = 0; count < 6; count += 1) client.write(frameOf(OPCODE.text, '{"acknowledged": 4095}'));
    return (await pilvi.api<Answer>("GET", `/commands/${id}`)).body.data.attributes.finished_at !== null;
  };
  await until("the command ends", isOver);
  // Either it is cut off with too much unread, or it has acknowledged more than had come by then.
  expect((await ended(id)).failure_reason).toMatch(/was lost|acknowledged more output than there was/);
  client.socket.destroy();
});

test("a terminal ends with the token that opened it", async () => {
  const at = terminals(await newToken("brief"));
  const terminal = await open("exec sleep 974", at);
  await until("it runs", () => processes("sleep 974") !== "");
  expect((await pilvi.run("token", "revoke", "brief")).code).toBe(0);
  expect(await at.closing).toEqual({ code: 1008, reason: "The rights to this command are gone." });
  expect(await ended(terminal.id)).toMatchObject({ exit_code: 129 });
  expect(processes("sleep 974")).toBe("");
});

test("a terminal ends with the control plane or the host, and the command fails", async () => {
  const first = await open("exec sleep 975");
  await until("it runs", () => processes("sleep 975") !== "");
  pilvi.kill("control");
  await first.closed;
  await until("nothing is left", () => processes("sleep 975") === "");
  await pilvi.untilReady();
  expect(await ended(first.id)).toMatchObject({ failure_reason: expect.stringContaining("was lost") });
  const second = await open("exec sleep 976");
  await until("it runs", () => processes("sleep 976") !== "");
  pilvi.kill("host");
  await second.closed;
  await pilvi.untilReady();
  expect(await ended(second.id)).toMatchObject({
    exit_code: null,
    failure_reason: expect.stringContaining("The host ended"),
  });
  expect(processes("sleep 976")).toBe("");
});
