// The session of a client, as engines of several versions describe it.
import { describe, expect, test } from "bun:test";
import type { InstanceUser } from "../../contracts/users.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import { CommandFramer } from "./framer.ts";
import { commandBytes } from "./replies.ts";
import { newSession } from "./session.ts";
import { captureSession } from "./session-capture.ts";

const LOGIN = { user: "app", password: "right" };
const USERS = [{ name: "app", verifier: sha256Hex("right") }];

/** Lines of `CLIENT INFO`, by the version of the engine. */
const BEFORE_7 =
  "id=7 addr=/r/engine.sock:0 laddr=/r/engine.sock:0 fd=8 name=web age=3 idle=0 flags=U db=2 sub=0 psub=0 multi=-1 qbuf=26 qbuf-free=45024 argv-mem=10 obl=0 oll=0 omem=0 tot-mem=61466 events=r cmd=client user=app redir=-1\n";
const OF_7_0 =
  "id=7 addr=/r/engine.sock:0 laddr=/r/engine.sock:0 fd=8 name=web age=3 idle=0 flags=U db=2 sub=0 psub=0 ssub=0 multi=-1 qbuf=26 qbuf-free=20448 argv-mem=10 multi-mem=0 rbs=1024 rbp=0 obl=0 oll=0 omem=0 tot-mem=22298 events=r cmd=client|info user=app redir=-1 resp=2\n";

/** The session that is kept of a client, from the engine's answers and the client's commands to it. */
async function captured(answers: string, commands = "", users: InstanceUser[] = USERS) {
  const framer = new CommandFramer();
  framer.walk(Buffer.from(commands, "latin1"), commands.length);
  const pieces = [Buffer.from(answers, "latin1")];
  const engine = {
    read: () => Promise.reject(new Error("nothing is read by its length")),
    readSome: () => Promise.resolve(pieces.shift() ?? Buffer.alloc(0)),
    write: () => undefined,
    end: () => undefined,
  };
  const session = { ...newSession(), login: LOGIN };
  return await captureSession({ engine, framer, session }, { entry: { users } });
}

const bulk = (line: string) => `$${line.length}\r\n${line}\r\n+OK\r\n`;
const verbatim = (line: string) => `=${line.length + 4}\r\ntxt:${line}\r\n+OK\r\n`;

describe.each([
  ["before version 7", BEFORE_7],
  ["of version 7.0", OF_7_0],
])("a client of a Redis %s", (_, line) => {
  test("is kept with its protocol, which shows in the kind of the answer", async () => {
    const kept = { login: LOGIN, db: 2, name: "web" };
    expect(await captured(bulk(line))).toMatchObject({ ...kept, protocol: 2 });
    expect(await captured(verbatim(line.replace("resp=2", "resp=3")))).toMatchObject({
      ...kept,
      protocol: 3,
    });
  });

  test("is kept with the login that is right now, or not at all", async () => {
    const users = [{ name: "app", verifier: sha256Hex("new") }];
    expect(await captured(bulk(line), "", users)).toBeNull();
    expect(await captured(bulk(line), commandBytes("AUTH", "new"), users)).toBeNull();
    expect(await captured(bulk(line), commandBytes("AUTH", "app", "new"), users)).toMatchObject({
      login: { user: "app", password: "new" },
    });
  });

  test("is not kept with a subscription", async () => {
    expect(await captured(bulk(line.replace(" sub=0", " sub=1")))).toBeNull();
  });

  test.each([
    commandBytes("SCAN", "0"),
    commandBytes("hscan", "hash", "0", "COUNT", "5"),
    commandBytes("SSCAN", "set", "17"),
    commandBytes("ZScan", "zset", "0"),
    "scan 0\r\n",
    commandBytes("MULTI") + commandBytes("SCAN", "0") + commandBytes("EXEC") + commandBytes("RESET"),
  ])("is not kept after %j, since the next engine takes its cursor for another place", async (commands) => {
    expect(await captured(bulk(line), commands)).toBeNull();
  });

  test("is kept after commands with similar names", async () => {
    const names = ["SADD", "SORT", "SPOP", "ZCARD", "HSET", "SCARD", "SORTN", "GSCAN"];
    expect(
      await captured(bulk(line), names.map((name) => commandBytes(name, "key", "0")).join("")),
    ).not.toBeNull();
  });
});
