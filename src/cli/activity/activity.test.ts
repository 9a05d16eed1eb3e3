// Tests of `pilvi activity` against a server that speaks the documented shapes.
import { afterEach, expect, test } from "bun:test";
import type { ActivityResource } from "../../sdk/index.ts";
import { closeServers, serveWith } from "../test-server.ts";
import { fakeIo, runCommand, sampleCache } from "../test-support.ts";

afterEach(closeServers);

function activity(number: number, changes: Partial<ActivityResource["attributes"]> = {}): ActivityResource {
  return {
    id: String(number),
    type: "activities",
    attributes: {
      action: "create",
      kind: "caches",
      resource_id: `cache-${number}`,
      actor: { type: "token", id: "token-1", name: "deploy" },
      address: "192.0.2.17",
      occurred_at: `2026-03-15T08:18:0${number}.204112Z`,
      details: {},
      ...changes,
    },
    meta: { request_id: null },
  };
}

function failure(number: number, attempts: number): ActivityResource {
  return activity(number, {
    action: "fail-sign-in",
    kind: "users",
    resource_id: "user-1",
    actor: null,
    details: { email: "ada@example.com", method: "password", attempts },
  });
}

function serveActivity(all: ActivityResource[], asked: URLSearchParams[] = []): string {
  return serveWith((request) => {
    const { searchParams } = new URL(request.url);
    asked.push(searchParams);
    const from = Number(searchParams.get("page[cursor]") ?? 0);
    const next = from + 2 < all.length ? String(from + 2) : null;
    const meta = { per_page: 2, next_cursor: next };
    return Response.json({ data: all.slice(from, from + 2), links: { first: "" }, meta });
  });
}

test("activity shows the latest last, over all pages", async () => {
  const gone = { type: "user", id: "user-1", name: null } as const;
  const io = fakeIo();
  const url = serveActivity([activity(3), activity(2, { actor: gone, address: null }), activity(1)]);
  await runCommand(io, url, "activity");
  expect(io.stdout.split("\n").map((line) => line.trimEnd())).toEqual([
    "TIME                 ACTOR   ADDRESS     ACTION  ON",
    "2026-03-15 08:18:01  deploy  192.0.2.17  create  caches cache-1",
    "2026-03-15 08:18:02  user-1  unknown     create  caches cache-2",
    "2026-03-15 08:18:03  deploy  192.0.2.17  create  caches cache-3",
    "",
  ]);
});

test("failed sign-ins show their account and their number", async () => {
  const io = fakeIo();
  await runCommand(io, serveActivity([failure(2, 12), failure(1, 1)]), "activity");
  expect(io.stdout.split("\n").map((line) => line.trimEnd())).toEqual([
    "TIME                 ACTOR    ADDRESS     ACTION        ON",
    "2026-03-15 08:18:01  unknown  192.0.2.17  fail-sign-in  users user-1 (ada@example.com, 1 attempt)",
    "2026-03-15 08:18:02  unknown  192.0.2.17  fail-sign-in  users user-1 (ada@example.com, 12 attempts)",
    "",
  ]);
});

test("activity passes its filters on, and asks for no more than it shows", async () => {
  const asked: URLSearchParams[] = [];
  const io = fakeIo();
  const { id } = sampleCache(1);
  const filters = ["--action", "update,delete", "--kind", "caches", "--resource", id];
  const url = serveActivity([activity(3), activity(2), activity(1)], asked);
  await runCommand(
    io,
    url,
    "activity",
    ...filters,
    "--since",
    "2026-03-15T08:00:00Z",
    "--limit",
    "2",
    "--json",
  );
  expect(
    io.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as ActivityResource).id),
  ).toEqual(["2", "3"]);
  expect(asked.map((query) => Object.fromEntries(query))).toEqual([
    {
      "filter[action]": "update,delete",
      "filter[kind]": "caches",
      "filter[resource]": id,
      "filter[since]": "2026-03-15T08:00:00.000Z",
      per_page: "2",
    },
  ]);
});

test("activity prints a sentence when the audit has no entry", async () => {
  const io = fakeIo();
  await runCommand(io, serveActivity([]), "activity");
  expect(io).toMatchObject({ stdout: "", stderr: "Nothing like that was done.\n" });
});
