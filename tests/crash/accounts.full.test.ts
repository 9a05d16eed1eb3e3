// The one-time links of a whole Pilvi: printed by a start, made by the command, and redeemed whole or not at all when
// the control plane is killed.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Database } from "../../src/store/database.ts";
import { Failpoints, startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { runPilvi } from "../support/pilvi/program.ts";
import { openStore } from "./inspection.ts";

const PASSWORD = "correct horse battery";
const LINK = /^ {2}First account {3}(\S+)$/m;

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let store: Database;
let secret: string;

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  store = await openStore(pilvi);
});

afterAll(async () => {
  failpoints.release();
  await store.close();
  await pilvi.close();
  failpoints.close();
});

const post = (path: string, body: object) =>
  fetch(`${pilvi.url}/api${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
const redeem = (password: string) =>
  post("/sign-in-links/redeem", { secret, email: "ada@example.com", name: "Ada", password });
const signIn = async (password: string) =>
  (await post("/sessions", { email: "ada@example.com", password })).status;

async function consoleLink(): Promise<string> {
  const { code, stdout } = await runPilvi(["console", "link"], pilvi.env);
  expect(code).toBe(0);
  return stdout.trim();
}

test("a start without an account prints a link below the ready line", () => {
  const lines = pilvi.printed.split("\n");
  const at = lines.indexOf(`pilvi ready ${pilvi.url}`);
  expect(at).toBeGreaterThanOrEqual(0);
  const link = LINK.exec(lines[at + 1] ?? "")?.[1] ?? "";
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/welcome#\w{43}$/);
  secret = new URL(link).hash.slice(1);
});

describe.each(["link.checked", "link.redeemed"])("killed at %s", (place) => {
  test("a link has made nothing and can still be used", async () => {
    failpoints.arm(place);
    const request = redeem(PASSWORD).catch(() => undefined);
    process.kill(await failpoints.reached(), "SIGKILL");
    await request;
    await pilvi.untilReady();
    const counts = await store`
      select (select count(*) from users)::int as users, (select count(*) from members)::int as members,
             (select count(*) from sessions)::int as sessions, (select count(*) from sign_in_links)::int as links`;
    expect([...counts]).toEqual([{ users: 0, members: 0, sessions: 0, links: 1 }]);
  });
});

test("the link makes the owner once, and the command makes links for the password after that", async () => {
  expect((await redeem(PASSWORD)).status).toBe(201);
  expect((await redeem(PASSWORD)).status).toBe(422);
  secret = new URL(await consoleLink()).hash.slice(1);
  expect((await redeem("another password")).status).toBe(201);
  expect([await signIn(PASSWORD), await signIn("another password")]).toEqual([401, 201]);
  expect((await redeem(PASSWORD)).status).toBe(422);
});

test("the command names an account that does not exist", async () => {
  const { code, stderr } = await runPilvi(["console", "link", "--email", "eve@example.com"], pilvi.env);
  expect([code, stderr]).toEqual([1, "There is no account with the address eve@example.com.\n"]);
});

test("a later start prints no link", async () => {
  await store.close();
  await pilvi.stop();
  await pilvi.start();
  store = await openStore(pilvi);
  expect(pilvi.printed).toContain(`pilvi ready ${pilvi.url}\n`);
  expect(pilvi.printed).not.toContain("#");
  expect(await signIn("another password")).toBe(201);
});
