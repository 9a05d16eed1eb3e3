// `pilvi run` against a server that speaks the documented shapes.
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  badGateway,
  refused,
  bodies,
  closeServers,
  failureOf,
  one,
  requests,
  serve,
} from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import { commandOf } from "./run.ts";
import {
  commandId,
  environmentPath,
  link,
  sampleCommand,
  sampleEnvironment,
  temporaryFolder,
} from "./test-support.ts";

const path = `/commands/${commandId(1)}`;
const AT = "2026-03-15T08:18:53.123Z";

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(async () => {
  folder.remove();
  await closeServers();
});

const part = (is_complete: boolean, cursor: string, ...texts: string[]) => ({
  data: texts.map((text) => ({ text, logged_at: AT })),
  meta: { cursor, is_complete, is_cut: false },
});

function routes(attributes: Parameters<typeof sampleCommand>[1] = {}): Parameters<typeof serve>[0] {
  return {
    [`GET ${environmentPath}`]: one(sampleEnvironment()),
    [`POST ${environmentPath}/commands`]: one(sampleCommand(1, { status: "pending" }), 201),
    [`GET ${path}/output`]: [part(false, "10", "one"), part(true, "20", "two")].map(
      (body) => () => Response.json(body),
    ),
    [`GET ${path}`]: one(sampleCommand(1, attributes)),
    [`POST ${path}/cancel`]: one(sampleCommand(1)),
  };
}

async function run(answers: Parameters<typeof serve>[0], ...words: string[]) {
  const url = serve(answers);
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "run", ...words);
  return io;
}

test("run prints the output as it comes, and passes options of the command on", async () => {
  const io = await run(routes(), "node", "-e", "1 + 1", "--json");
  expect(io.stdout).toBe("one\ntwo\n");
  expect(bodies).toEqual([{ command: "node -e '1 + 1' --json" }]);
  expect(requests.filter((request) => request.endsWith("/output"))).toHaveLength(2);
});

test("run ends with the exit code of the command, or with its reason", async () => {
  const failed = { status: "command.failure", exit_code: 3, failure_reason: "It ended with 3." } as const;
  expect((await run(routes(failed), "false")).exitCode).toBe(3);
  const killed = { ...failed, exit_code: null, failure_reason: "It took too long." };
  expect(await failureOf(run(routes(killed), "false"))).toEqual({ text: "It took too long.", exitCode: 1 });
});

test("run joins the parts of a long line", async () => {
  const parts = ["a long ", "line", "end"].map((text, at) => ({ text, is_open: at === 0, logged_at: "" }));
  const whole = { data: parts, meta: { cursor: "9", is_complete: true, is_cut: false } };
  const io = await run({ ...routes(), [`GET ${path}/output`]: () => Response.json(whole) }, "true");
  expect(io.stdout).toBe("a long line\nend\n");
});

test("run fails when a part of the output is not kept, so that a file with it does not pass for whole", async () => {
  const whole = part(true, "20", "two");
  const cut = { ...whole, meta: { ...whole.meta, is_cut: true } };
  const io = await run({ ...routes(), [`GET ${path}/output`]: () => Response.json(cut) }, "true");
  expect([io.stdout, io.stderr, io.exitCode]).toEqual([
    "two\n",
    "The output is longer than Pilvi keeps, and its end is missing.\n",
    1,
  ]);
});

test("run --detach prints the id", async () => {
  expect((await run(routes(), "--detach", "--", "true")).stdout).toBe(`${commandId(1)}\n`);
});

test("Ctrl-C cancels the command", async () => {
  const url = serve(routes());
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  io.pause = async (_ms, signal) => {
    io.interrupt();
    signal?.throwIfAborted();
  };
  expect(await failureOf(runCommand(io, url, "run", "sleep 60"))).toMatchObject({ exitCode: 130 });
  expect(requests.at(-1)).toBe(`POST ${path}/cancel`);
});

test("run outlasts an absence of Pilvi", async () => {
  const [first, second] = [part(false, "10", "one"), part(true, "20", "two")].map(
    (body) => () => Response.json(body),
  );
  const io = await run(
    {
      ...routes({ status: "command.failure", exit_code: 3, failure_reason: "It ended with 3." }),
      [`GET ${path}/output`]: [first ?? badGateway, badGateway, badGateway, second ?? badGateway],
    },
    "true",
  );
  expect([io.stdout, io.exitCode]).toEqual(["one\ntwo\n", 3]);
});

test("a command that cannot be cancelled, or followed any more, is named", async () => {
  const url = serve({ ...routes(), [`POST ${path}/cancel`]: () => new Response("", { status: 502 }) });
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  io.pause = async (_ms, signal) => {
    io.interrupt();
    signal?.throwIfAborted();
  };
  expect(await failureOf(runCommand(io, url, "run", "sleep 60"))).toEqual({
    text: `Interrupted, but the command could not be cancelled: The server at ${url} answered with status 502 and no message.\nIt goes on. Its id is ${commandId(1)}.`,
    exitCode: 130,
  });
  expect(await failureOf(run({ ...routes(), [`GET ${path}/output`]: refused }, "true"))).toEqual({
    text: `Pilvi does not accept this token: It was revoked. Set PILVI_TOKEN to another: the console or \`pilvi token create\` makes one.\nThe command goes on. Its id is ${commandId(1)}.`,
    exitCode: 1,
  });
});

test("one word is a text for the shell, several are a program with its arguments", () => {
  expect(commandOf(["env | sort"])).toBe("env | sort");
  expect(commandOf(["echo", "it's", "a b"])).toBe(`echo 'it'\\''s' 'a b'`);
});
