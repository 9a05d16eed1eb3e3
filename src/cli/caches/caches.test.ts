// The commands about caches against a server that speaks the documented shapes.
import { afterEach, expect, test } from "bun:test";
import { CommanderError } from "commander";
import {
  closeServers,
  bodies,
  failureOf,
  list,
  noContent,
  notFound,
  one,
  requests,
  serve,
  serveWith,
} from "../test-server.ts";
import { fakeIo, runCommand, sampleCache } from "../test-support.ts";

afterEach(closeServers);

const creating = sampleCache(1, { status: "creating" });
const available = sampleCache(1);
const path = `/caches/${available.id}`;

test("create sends only the given options, with the smallest size of the type", async () => {
  const url = serve({ "POST /caches": one(creating, 201) });
  await runCommand(fakeIo(), url, "caches", "create", "sessions");
  expect(bodies.at(-1)).toEqual({
    name: "sessions",
    type: "platform_valkey",
    size: "valkey-flex-250mb",
    region: "us-east-1",
  });
  const more =
    "--type hosted_redis --region eu-west-1 --public --hibernate --hibernation-timeout 9 --auto-upgrade";
  await runCommand(fakeIo(), url, "caches", "create", "queue", ...more.split(" "));
  expect(bodies.at(-1)).toEqual({
    name: "queue",
    type: "hosted_redis",
    size: "250mb",
    region: "eu-west-1",
    is_public: true,
    uses_hibernation: true,
    hibernation_timeout: 9,
    auto_upgrade_enabled: true,
  });
});

test("create --wait waits until the cache is available and prints how to connect", async () => {
  const url = serve({ "POST /caches": one(creating, 201), [`GET ${path}`]: [one(creating), one(available)] });
  const io = fakeIo();
  await runCommand(io, url, "caches", "create", "sessions", "--wait");
  expect(io.stderr).toBe("Waiting for the cache sessions to be available\n");
  expect(io.stdout).toContain("Try it: redis-cli -u redis://app:p%2Fw@127.0.0.1:20000 ping");
  expect(requests).toEqual(["POST /caches", `GET ${path}`, `GET ${path}`]);
});

test("create --wait --json prints the document only", async () => {
  const url = serve({ "POST /caches": one(creating, 201), [`GET ${path}`]: one(available) });
  const io = fakeIo();
  await runCommand(io, url, "caches", "create", "sessions", "--wait", "--json");
  expect(JSON.parse(io.stdout)).toEqual({ data: available });
});

test("a wait that takes too long fails with status and last error, after the document", async () => {
  const stuck = sampleCache(1, { status: "creating" }, "no engine is installed");
  const url = serve({ "POST /caches": one(creating, 201), [`GET ${path}`]: one(stuck) });
  const io = fakeIo();
  const failure = await failureOf(
    runCommand(io, url, "caches", "create", "sessions", "--wait", "--json", "--timeout", "2"),
  );
  expect(failure?.exitCode).toBe(1);
  expect(failure?.text).toStartWith(
    "The cache sessions is not available after 2 s; its status is creating.\nThe last error was: no engine is installed\n",
  );
  expect(JSON.parse(io.stdout)).toEqual({ data: stuck });
});

test("a terminal shows one line that is overwritten, without line breaks, and removed at the end", async () => {
  const troubled = sampleCache(1, { status: "creating" }, "first\nsecond");
  const url = serve({ "POST /caches": one(creating, 201), [`GET ${path}`]: [one(troubled), one(available)] });
  const io = fakeIo({ isErrTerminal: true, errColumns: 120 });
  await runCommand(io, url, "caches", "create", "sessions", "--wait");
  const drawings = io.stderr.split("\r\u001B[K");
  expect(drawings[1]).toBe("Waiting for the cache sessions to be available: 0 s, creating");
  expect(drawings[2]).toEndWith("0 s, creating, last error: first second");
  expect(drawings.at(-1)).toBe("");
  expect(io.stderr).not.toContain("\n");
});

test("Ctrl-C while waiting ends at once with 130 and prints that the creation goes on", async () => {
  const held = Promise.withResolvers<Response>();
  const io = fakeIo();
  const url = serveWith((request) => {
    if (request.method === "POST") return one(creating, 201)();
    io.interrupt();
    return held.promise;
  });
  const failure = await failureOf(runCommand(io, url, "caches", "create", "sessions", "--wait"));
  held.resolve(new Response());
  expect(failure).toEqual({
    text: `Interrupted. Pilvi goes on with it. Look at it with: pilvi caches show ${creating.id}`,
    exitCode: 130,
  });
});

test("a 422 is printed as one line per field", async () => {
  const errors = { name: ["Too short.", "Wrong letters."], region: ["Unknown."] };
  const url = serve({
    "POST /caches": () => Response.json({ message: "Not valid.", errors }, { status: 422 }),
  });
  const failure = await failureOf(runCommand(fakeIo(), url, "caches", "create", "A"));
  expect(failure).toEqual({ text: "name: Too short. Wrong letters.\nregion: Unknown.", exitCode: 1 });
});

test("list shows a table, or says that there are no caches", async () => {
  const io = fakeIo();
  await runCommand(io, serve({ "GET /caches": list(available) }), "caches", "list");
  const [head, row] = io.stdout.split("\n");
  expect(head).toMatch(/^NAME {6}STATUS {5}SLEEP {2}TYPE/);
  expect(row).toStartWith(
    "sessions  available  awake  platform_valkey  valkey-flex-250mb  us-east-1  127.0.0.1:20000",
  );
  const empty = fakeIo();
  await runCommand(empty, serve({ "GET /caches": list() }), "caches", "list");
  expect(empty.stdout).toBe("There are no caches yet. Create one with: pilvi caches create NAME --wait\n");
});

test("list --json prints the document of a single page as it came", async () => {
  const io = fakeIo();
  await runCommand(io, serve({ "GET /caches": list(available) }), "caches", "list", "--json");
  expect(JSON.parse(io.stdout)).toEqual({ data: [available], links: {}, meta: { total: 1 } });
});

test("show takes a name that only one cache has, and lists the ids when several caches have it", async () => {
  const other = sampleCache(2, { name: "other" });
  const unique = serve({ "GET /caches": list(available, other), [`GET ${path}`]: one(available) });
  const io = fakeIo();
  await runCommand(io, unique, "caches", "show", "sessions");
  expect(io.stdout).toMatch(/^Password {4}p\/w$/m);
  const twins = serve({ "GET /caches": list(available, sampleCache(2)) });
  const failure = await failureOf(runCommand(fakeIo(), twins, "caches", "show", "sessions"));
  expect(failure?.exitCode).toBe(1);
  expect(failure?.text).toContain(`  ${available.id}\n  ${sampleCache(2).id}`);
  const unknown = await failureOf(runCommand(fakeIo(), twins, "caches", "show", "nothing"));
  expect(unknown).toEqual({ text: "There is no cache named nothing.", exitCode: 1 });
});

test("credentials that the token may not see are shown as hidden", async () => {
  const connection = { hostname: "::1", port: 20_000, protocol: "redis", "": [] } as const;
  const hidden = sampleCache(1, { connection: { ...connection, "": [] } });
  const io = fakeIo();
  await runCommand(io, serve({ [`GET ${path}`]: one(hidden) }), "caches", "show", hidden.id);
  expect(io.stdout).toContain("Password    hidden");
  expect(io.stdout).not.toContain("redis://");
});

test("delete requires --yes where no person can be asked", async () => {
  const io = fakeIo();
  const error = await runCommand(io, serve({}), "caches", "delete", "sessions").catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CommanderError);
  expect(error).toMatchObject({ exitCode: 2 });
  expect(requests).toEqual([]);
});

test("delete asks on a terminal and accepts only yes", async () => {
  const url = serve({
    [`GET ${path}`]: one(available),
    [`DELETE ${path}`]: noContent,
  });
  const hesitant = fakeIo({ isInputTerminal: true, ask: async () => "" });
  const failure = await failureOf(runCommand(hesitant, url, "caches", "delete", available.id));
  expect(failure).toEqual({ text: "Nothing was deleted.", exitCode: 1 });
  expect(requests).not.toContain(`DELETE ${path}`);
  const sure = fakeIo({ isInputTerminal: true, ask: async () => "y" });
  await runCommand(sure, url, "caches", "delete", available.id);
  expect(sure.stdout).toBe(`Deleting the cache sessions (${available.id}).\n`);
});

test("delete --wait waits until the cache is gone", async () => {
  const url = serve({
    [`GET ${path}`]: [one(available), one(sampleCache(1, { status: "deleting" })), notFound],
    [`DELETE ${path}`]: noContent,
  });
  const io = fakeIo();
  await runCommand(io, url, "caches", "delete", available.id, "--yes", "--wait");
  expect(io.stdout).toBe(`Deleted the cache sessions (${available.id}).\n`);
});

test("update sends only the given options, and --wait waits until they are in force", async () => {
  const updating = sampleCache(1, { status: "updating" });
  const url = serve({
    [`PATCH ${path}`]: one(updating),
    [`GET ${path}`]: [one(available), one(updating), one(available)],
  });
  const io = fakeIo();
  const options = "--size valkey-flex-1gb --no-public --hibernate --hibernation-timeout 9 --no-auto-upgrade";
  await runCommand(io, url, "caches", "update", available.id, ...options.split(" "), "--wait");
  expect(bodies).toEqual([
    {
      size: "valkey-flex-1gb",
      is_public: false,
      uses_hibernation: true,
      hibernation_timeout: 9,
      auto_upgrade_enabled: false,
    },
  ]);
  expect(io.stderr).toBe("Waiting for the cache sessions to be available\n");
  expect(io.stdout).toMatch(/^Status +available$/m);
});

test("update prints how to wait for a change that is not in force yet", async () => {
  const updating = sampleCache(1, { status: "updating" });
  const url = serve({ [`PATCH ${path}`]: one(updating), [`GET ${path}`]: one(updating) });
  const io = fakeIo();
  await runCommand(io, url, "caches", "update", available.id, "--eviction-policy", "noeviction");
  expect(io.stderr).toBe(
    `In force when the cache is available. Wait for it with: pilvi caches show ${available.id} --wait\n`,
  );
});

test("update without a change is wrong usage", async () => {
  const command = runCommand(fakeIo(), serve({}), "caches", "update", "sessions", "--wait");
  const error = await command.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CommanderError);
  expect(error).toMatchObject({ exitCode: 2 });
});

test("suspend says that the cache sleeps, or why it does not", async () => {
  const url = serve({
    [`GET ${path}`]: one(available),
    [`POST ${path}/suspend`]: [
      one(available),
      () => Response.json({ message: "A client is in a transaction." }, { status: 409 }),
      () => Response.json({ message: "It does not. Set uses_hibernation." }, { status: 409 }),
    ],
  });
  const io = fakeIo();
  await runCommand(io, url, "caches", "suspend", available.id);
  expect(io.stdout).toBe(`Put the cache sessions (${available.id}) to sleep.\n`);
  const failure = () => failureOf(runCommand(fakeIo(), url, "caches", "suspend", available.id));
  expect(await failure()).toEqual({ text: "A client is in a transaction.", exitCode: 1 });
  const way = `Let it sleep with: pilvi caches update ${available.id} --hibernate`;
  expect(await failure()).toEqual({ text: `The cache does not hibernate. ${way}`, exitCode: 1 });
});

test("show names the client that woke the cache, and how long that took", async () => {
  const woken = sampleCache(1);
  woken.meta.sleep = {
    state: "asleep",
    since: "2026-03-15T09:00:00.000Z",
    wakes: 2,
    pending: true,
    last_wake: {
      at: "2026-03-15T08:00:00.000Z",
      reason: { user: "app", database: "main", application: null, address: "127.0.0.1:53312" },
      spans_ms: { accept: 0.25, auth: 2, start: 5, ready: 30.5, login: 3 },
    },
  };
  const io = fakeIo();
  await runCommand(io, serve({ [`GET ${path}`]: one(woken) }), "caches", "show", woken.id);
  expect(io.stdout).toMatch(
    /^Sleep +asleep since 2026-03-15T09:00:00\.000Z, woken 2 times, a change of it takes effect when the engine stops next$/m,
  );
  expect(io.stdout).toMatch(
    /^Last wake +2026-03-15T08:00:00\.000Z, by app from 127\.0\.0\.1:53312, database main$/m,
  );
  expect(io.stdout).toMatch(
    /^Wake took +40\.8 ms \(accept 0\.3 ms, auth 2\.0 ms, start 5\.0 ms, ready 30\.5 ms, login 3\.0 ms\)$/m,
  );
});
