// What a real edge adds to answers and refuses, as the policies of its routes say.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { passOf } from "../../../tests/support/engines/challenge.ts";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { answerOf, named } from "../../../tests/support/engines/named-application.ts";
import type { EdgePolicy } from "../../contracts/edge-route.ts";
import { USUAL_POLICY } from "../../engines/haproxy/policy.ts";
import { makeAuthority, makeServerCertificate } from "../../processes/tls/x509.ts";

const POLICY_HEADERS = new Set([
  "x-frame-options",
  "x-content-type-options",
  "x-robots-tag",
  "strict-transport-security",
]);

let lone: LoneEdge;

beforeAll(async () => {
  const period = { from: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 86_400_000) };
  const certificate = makeServerCertificate(makeAuthority(period), ["localhost"], period);
  lone = await LoneEdge.start({ certificate });
  lone.serve("app", named("app"));
  lone.serve("own", () => new Response("own", { headers: { "x-frame-options": "SAMEORIGIN" } }));
});

afterAll(async () => await lone.close());

let names = 0;

/** Leads a new name to an instance with a policy. */
async function served(policy: Partial<EdgePolicy>, instance = "app"): Promise<string> {
  names += 1;
  const name = `n${names}.localhost`;
  await lone.route(`r${names}`, [name], instance, 30, policy);
  return name;
}

async function headersOf(name: string): Promise<Record<string, string>> {
  const { headers } = await lone.get(name);
  return Object.fromEntries([...headers].filter(([key]) => POLICY_HEADERS.has(key)));
}

describe("the usual policy", () => {
  test("adds its headers, unless the application has them", async () => {
    const headers = { "x-frame-options": "DENY", "x-content-type-options": "nosniff" };
    expect(await headersOf(await served(USUAL_POLICY))).toEqual(headers);
    const own = await served(USUAL_POLICY, "own");
    expect(await headersOf(own)).toEqual({ ...headers, "x-frame-options": "SAMEORIGIN" });
  });

  test("refuses scanners alone, with a body and without", async () => {
    const name = await served(USUAL_POLICY);
    for (const init of [{}, { method: "POST", body: "b" }]) {
      for (const path of ["/.env", "/a/%2egit/config", "/%zz/.env"])
        expect((await lone.get(name, path, init)).status).toBe(403);
      expect((await lone.get(name, "/environment", init)).status).toBe(200);
    }
  });
});

describe("headers of answers", () => {
  test("are those of the policy, and none without one", async () => {
    expect(await headersOf(await served({}))).toEqual({});
    expect(await headersOf(await served({ frame: "deny", isNosniff: true, isUnlisted: true }))).toEqual({
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "x-robots-tag": "noindex, nofollow",
    });
    expect(await headersOf(await served({ frame: "sameorigin" }))).toEqual({
      "x-frame-options": "SAMEORIGIN",
    });
  });

  test("of the application itself stay", async () => {
    const name = await served({ frame: "deny" }, "own");
    expect(await headersOf(name)).toEqual({ "x-frame-options": "SAMEORIGIN" });
  });

  test("change while the edge runs", async () => {
    const name = await served({});
    await lone.route(`r${names}`, [name], "app", 30, { frame: "deny" });
    expect(await headersOf(name)).toEqual({ "x-frame-options": "DENY" });
    await lone.killEngine();
    await lone.startEngine();
    expect(await headersOf(name)).toEqual({ "x-frame-options": "DENY" });
  });

  test("ask for HTTPS alone over HTTPS only", async () => {
    const hsts = { maxAgeSeconds: 600, includesSubdomains: false, isPreloaded: false };
    const cases = [
      [hsts, "max-age=600"],
      [{ ...hsts, includesSubdomains: true }, "max-age=600; includeSubDomains"],
      [{ ...hsts, isPreloaded: true }, "max-age=600; preload"],
      [
        { maxAgeSeconds: 0, includesSubdomains: true, isPreloaded: true },
        "max-age=0; includeSubDomains; preload",
      ],
      [null, null],
    ] as const;
    for (const [policy, header] of cases) {
      const name = await served({ hsts: policy });
      expect(await headersOf(name)).toEqual({});
      const answer = await fetch(`https://127.0.0.1:${lone.httpsPort}/`, {
        headers: { host: name },
        tls: { rejectUnauthorized: false },
      });
      expect(answer.headers.get("strict-transport-security")).toBe(header);
    }
  });
});

describe("a path that only scanners ask for", () => {
  test("is refused, however it is written", async () => {
    const name = await served({ refusesScans: true });
    for (const path of [
      "/.env",
      "/app/.ENV",
      "/.git/config",
      "/%2egit/HEAD",
      "/%zz/.git/HEAD",
      "/a/vendor/phpunit/x.php",
    ])
      expect(
        (await lone.raw(`GET ${path} HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`)).slice(0, 12),
      ).toBe("HTTP/1.1 403");
    for (const path of ["/", "/.well-known/security.txt", "/environment", "/wp-login.php"])
      expect((await lone.get(name, path)).status).toBe(200);
  });

  test("reaches an application without the setting", async () => {
    expect((await answerOf(lone.get(await served({}), "/.env"))).url).toBe("/.env");
  });
});

test("bots of the refused categories are refused, and others not", async () => {
  const name = await served({ refusedBots: ["ai_crawler", "other"] });
  const status = async (agent: string) =>
    (await lone.get(name, "/", { headers: { "user-agent": agent } })).status;
  expect(await status("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)")).toBe(403);
  expect(await status("SomeNewBot/1.0")).toBe(403);
  // A comma is part of the text, not the end of a value.
  expect(await status("Mozilla/5.0 (compatible; GPTBot/1.2) AppleWebKit/537.36 (KHTML, like Gecko)")).toBe(
    403,
  );
  expect(await status("Mozilla/5.0 (compatible; Googlebot/2.1)")).toBe(200);
  expect(await status("Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")).toBe(200);
  const open = await served({});
  expect((await lone.get(open, "/", { headers: { "user-agent": "GPTBot/1.2" } })).status).toBe(200);
});

/** The statuses of requests one after the other. */
async function statuses(name: string, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let request = 0; request < count; request += 1) {
    const answer = await lone.get(name);
    await answer.arrayBuffer();
    found.push(answer.status);
  }
  return found;
}

describe("a client with more requests than the limit", () => {
  test("is answered with 429 where it is throttled, and other routes go on", async () => {
    const name = await served({ rateLimit: { level: "throttle", requestsPerMinute: 100 } });
    const other = await served({ rateLimit: { level: "throttle", requestsPerMinute: 300 } });
    const found = await statuses(name, 103);
    expect(found.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 200));
    expect(found.slice(100)).toEqual([429, 429, 429]);
    expect((await lone.get(name)).headers.get("retry-after")).toBe("15");
    expect(await statuses(other, 1)).toEqual([200]);
  });

  test("is refused from then on where it is banned", async () => {
    const name = await served({ rateLimit: { level: "ban", requestsPerMinute: 100 } });
    expect((await statuses(name, 102)).slice(99)).toEqual([200, 403, 403]);
    // A higher limit takes no ban back.
    await lone.route(`r${names}`, [name], "app", 30, {
      rateLimit: { level: "ban", requestsPerMinute: 1_000 },
    });
    expect(await statuses(name, 1)).toEqual([403]);
    await lone.route(`r${names}`, [name], "app", 30, {});
    expect(await statuses(name, 1)).toEqual([200]);
  });

  test("goes on once it has solved the challenge", async () => {
    const name = await served({ rateLimit: { level: "challenge", requestsPerMinute: 100 } });
    expect((await statuses(name, 101)).slice(99)).toEqual([200, 403]);
    const pass = passOf(await (await lone.get(name)).text());
    const withPass = (cookie: string) => lone.get(name, "/", { headers: { cookie: `a=b; ${cookie}` } });
    expect((await withPass(pass)).status).toBe(200);
    expect((await withPass("pilvi_pass=x")).status).toBe(403);
    const other = await served({ rateLimit: { level: "challenge", requestsPerMinute: 100 } });
    await statuses(other, 101);
    expect((await lone.get(other, "/", { headers: { cookie: pass } })).status).toBe(403);
  });
});
