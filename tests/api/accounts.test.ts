// Accounts: the one-time link, the sign-in, sessions, and the user's own account.
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { createRecoveryLink, createSetUpLink } from "../../src/resources/accounts/index.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { Browser, ownerOf, PASSWORD } from "../support/api/browser.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const EMAIL = "ada@example.com";

describe("the link of the first start", () => {
  test("makes the account of the owner and signs in, for exactly one of two at once", async () => {
    const secret = await createSetUpLink(api.db);
    const people = ["Ada@Example.com", "eve@example.com"].map((email) => ({
      email,
      browser: new Browser(api),
    }));
    const answers = await Promise.all(
      people.map(({ email, browser }) =>
        browser.send("POST", "/sign-in-links/redeem", { secret, email, name: "Ada", password: PASSWORD }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(await api.db`select count(*)::int as n from users`).toEqual([{ n: 1 }]);
    const winner = people[answers.findIndex(({ status }) => status === 201)];
    const me = await winner?.browser.send("GET", "/users/me");
    expect(me?.body.data.attributes).toMatchObject({ name: "Ada", email: winner?.email.toLowerCase() });
    expect(me?.body.data.meta).toMatchObject({
      role: "owner",
      abilities: ["*"],
      organizations: [{ name: "default" }],
    });
    await api.db`update users set email = ${EMAIL}`;
  });

  test("is made no more when there is an account", async () => {
    expect(await createSetUpLink(api.db)).toBeNull();
  });

  test("needs an e-mail address and a name", async () => {
    await withoutUsers(async () => {
      const secret = await createSetUpLink(api.db);
      const body = { secret, password: PASSWORD };
      const answer = await new Browser(api).send("POST", "/sign-in-links/redeem", body);
      expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, ["email", "name"]]);
      const whole = { ...body, email: "b@example.com", name: "B" };
      expect((await new Browser(api).send("POST", "/sign-in-links/redeem", whole)).status).toBe(201);
      expect((await new Browser(api).send("POST", "/sign-in-links/redeem", whole)).status).toBe(422);
    });
  });

  test("has expired after a day", async () => {
    await withoutUsers(async () => {
      const secret = await createSetUpLink(api.db);
      await api.db`update sign_in_links set expires_at = now()`;
      const body = { secret, email: "b@example.com", name: "B", password: PASSWORD };
      expect((await new Browser(api).send("POST", "/sign-in-links/redeem", body)).status).toBe(422);
    });
  });
});

/** Runs a test on a store without accounts, and brings the accounts back. */
async function withoutUsers(run: () => Promise<void>): Promise<void> {
  const former = api;
  api = await startApi();
  try {
    await run();
  } finally {
    await api.stop();
    api = former;
  }
}

test("a recovery link sets a new password, ends all sessions and signs in, once", async () => {
  const old = new Browser(api);
  expect((await old.signIn(EMAIL)).status).toBe(201);
  const [user] = await api.db<{ id: string }[]>`select id from users`;
  const secret = await createRecoveryLink(api.db, user?.id ?? "");
  const browser = new Browser(api);
  const redeem = () =>
    browser.send("POST", "/sign-in-links/redeem", { secret, password: "another password" });
  expect((await redeem()).status).toBe(201);
  expect((await old.send("GET", "/users/me")).status).toBe(401);
  expect((await new Browser(api).signIn(EMAIL)).status).toBe(401);
  expect((await redeem()).status).toBe(422);
  const changed = await browser.send("PUT", "/users/me/password", {
    current_password: "another password",
    password: PASSWORD,
  });
  expect(changed.status).toBe(204);
});

describe("a session", () => {
  test("has a new secret at each sign-in, in a cookie that scripts and other sites cannot use", async () => {
    const browser = new Browser(api);
    browser.cookie = "pilvi_session=chosen-by-an-attacker";
    const answer = await browser.signIn(EMAIL.toUpperCase());
    expect(answer.status).toBe(201);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^pilvi_session=\w{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/),
    ]);
    const first = browser.cookie;
    await browser.signIn(EMAIL);
    expect(browser.cookie).not.toBe(first);
    const text = JSON.stringify(await api.db`select * from sessions`);
    expect(text).not.toContain(browser.cookie?.split("=")[1] ?? "");
  });

  test("behind a proxy with HTTPS has a cookie that only HTTPS sends", async () => {
    const origin = api.origin.replace("http:", "https:");
    const answer = await new Browser(api).send(
      "POST",
      "/sessions",
      { email: EMAIL, password: PASSWORD },
      { Origin: origin },
    );
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toStartWith("__Host-pilvi_session=");
    expect(cookie).toEndWith("; Secure");
    const headers = { Cookie: cookie.split(";")[0] ?? "" };
    expect((await fetch(`${api.origin}/api/users/me`, { headers })).status).toBe(200);
  });

  test("is listed, and ends when the user ends it", async () => {
    const [one, other] = [new Browser(api), new Browser(api)];
    await one.signIn(EMAIL);
    const second = await other.signIn(EMAIL);
    const list = (await one.send("GET", "/sessions")).body as unknown as {
      data: { id: string; attributes: { is_current: boolean; user_agent: string } }[];
    };
    expect(list.data.filter(({ attributes }) => attributes.is_current)).toHaveLength(1);
    expect(list.data.map(({ id }) => id)).toContain(second.body.data.id);
    expect((await one.send("DELETE", `/sessions/${second.body.data.id}`)).status).toBe(204);
    expect((await other.send("GET", "/users/me")).status).toBe(401);
    expect((await one.send("DELETE", `/sessions/${second.body.data.id}`)).status).toBe(404);
    const out = await one.send("DELETE", "/sessions/current");
    expect([out.status, one.cookie]).toEqual([204, undefined]);
  });

  test("that has expired is refused, and a use renews it for 90 days at most", async () => {
    const browser = new Browser(api);
    const { id } = (await browser.signIn(EMAIL)).body.data;
    await api.db`
      update sessions set created_at = now() - interval '70 days', last_used_at = now() - interval '2 hours',
        expires_at = now() + interval '1 hour' where id = ${id}`;
    expect((await browser.send("GET", "/users/me")).status).toBe(200);
    const daysLeft = async () => {
      const [row] = await api.db<{ days: number }[]>`
        select round(extract(epoch from expires_at - now()) / 86400)::int as days from sessions where id = ${id}`;
      return row?.days;
    };
    await until("it is renewed", async () => (await daysLeft()) === 20);
    await api.db`update sessions set expires_at = now() where id = ${id}`;
    expect((await browser.send("GET", "/users/me")).status).toBe(401);
  });

  test("gives way to an Authorization header", async () => {
    const browser = new Browser(api);
    await browser.signIn(EMAIL);
    const headers = { Authorization: "Bearer unknown" };
    expect((await browser.send("GET", "/caches", undefined, headers)).status).toBe(401);
    expect(
      (await browser.send("GET", "/caches", undefined, { Authorization: `Bearer ${api.token}` })).status,
    ).toBe(200);
  });

  test("is recorded in the audit as its user", async () => {
    const browser = new Browser(api);
    await browser.signIn(EMAIL);
    const cache = {
      type: "platform_valkey",
      name: "sessions",
      region: "eu-central-1",
      size: "valkey-flex-250mb",
    };
    const made = await browser.send("POST", "/caches", cache);
    expect(made.status).toBe(201);
    expect(made.body.data.attributes.connection).toHaveProperty("password");
    const [audit] = await api.db`
      select user_id like 'user-%' as "isByUser", token_id from audit where resource_id = ${made.body.data.id}`;
    expect(audit).toEqual({ isByUser: true, token_id: null });
    expect((await browser.send("GET", "/meta/organization")).body.data.meta.token).toBeNull();
  });
});

describe("a page of another address", () => {
  const foreign: [string, Record<string, string>][] = [
    ["with its own origin", { Origin: "https://evil.example" }],
    ["with another port of this host", { Origin: "http://127.0.0.1:1" }],
    ["without an origin", { Origin: "null" }],
    ["that the browser calls cross-site", { "Sec-Fetch-Site": "cross-site" }],
    ["that the browser calls same-site", { "Sec-Fetch-Site": "same-site" }],
  ];
  test.each(foreign)("%s can neither change anything nor sign its reader in", async (_what, headers) => {
    const browser = new Browser(api);
    await browser.signIn(EMAIL);
    const send = (path: string, method: string, json: unknown, cookie = true) =>
      fetch(`${api.origin}/api${path}`, {
        method,
        headers: {
          ...headers,
          ...(cookie && { Cookie: browser.cookie ?? "" }),
          "Content-Type": "application/json",
        },
        body: JSON.stringify(json),
      });
    expect((await send("/users/me", "PATCH", { name: "Eve" })).status).toBe(403);
    expect((await send("/sessions", "POST", { email: EMAIL, password: PASSWORD }, false)).status).toBe(403);
    expect((await browser.send("GET", "/users/me")).body.data.attributes.name).toBe("Ada");
  });

  test("cannot be distinguished from a program that has a cookie and names no page, which is refused too", async () => {
    const browser = new Browser(api);
    await browser.signIn(EMAIL);
    const headers = { Cookie: browser.cookie ?? "" };
    const out = await fetch(`${api.origin}/api/sessions/current`, { method: "DELETE", headers });
    expect(out.status).toBe(403);
    const own = { ...headers, "Sec-Fetch-Site": "same-origin" };
    const done = await fetch(`${api.origin}/api/sessions/current`, { method: "DELETE", headers: own });
    expect(done.status).toBe(204);
  });
});

describe("the user", () => {
  test("keeps a script in the name as plain text", async () => {
    const browser = new Browser(api);
    await browser.signIn(EMAIL);
    const name = "<script>alert(1)</script>";
    const answer = await browser.send("PATCH", "/users/me", { name });
    expect(answer.body.data.attributes.name).toBe(name);
    expect(answer.headers.get("content-type")).toBe("application/vnd.api+json");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    await browser.send("PATCH", "/users/me", { name: "Ada" });
  });

  test.each([
    [{ name: "" }, "name"],
    [{ name: "a\u0007b" }, "name"],
    [{ name: "a".repeat(101) }, "name"],
    [{ email: "nobody" }, "email"],
    [{ email: `${"a".repeat(250)}@example.com` }, "email"],
  ])("with %j is refused", async (change, field) => {
    const browser = new Browser(api);
    await browser.signIn(EMAIL);
    const answer = await browser.send("PATCH", "/users/me", change);
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, [field]]);
  });

  test("changes the password with the present one only, which ends the other sessions", async () => {
    const [one, other] = [new Browser(api), new Browser(api)];
    await one.signIn(EMAIL);
    await other.signIn(EMAIL);
    const change = (current: string, password: string) =>
      one.send("PUT", "/users/me/password", { current_password: current, password });
    expect((await change("not the password", "a new password")).body.errors).toHaveProperty(
      "current_password",
    );
    expect((await change(PASSWORD, "short")).body.errors).toHaveProperty("password");
    expect((await other.send("GET", "/users/me")).status).toBe(200);
    expect((await change(PASSWORD, "a new password")).status).toBe(204);
    expect((await other.send("GET", "/users/me")).status).toBe(401);
    expect((await one.send("GET", "/users/me")).status).toBe(200);
    expect((await change("a new password", PASSWORD)).status).toBe(204);
  });

  test("is nobody for a token", async () => {
    const answer = await api.request("/api/users/me");
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual({
      message: "This action is unauthorized. Only a signed-in user may do this; a token may not.",
    });
  });
});

test("a flood of passwords is slowed down, answers for unknown addresses alike, and harms no other request", async () => {
  const own = await startApi();
  await ownerOf(own);
  const attack = async (email: string) => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => new Browser(own).signIn(email, `guess number ${n}`)),
    );
    return answers.map(({ status, body, headers }) => [status, body.message, headers.has("retry-after")]);
  };
  // The delays do not end while a busy machine answers.
  const clock = spyOn(performance, "now").mockReturnValue(performance.now());
  const known = attack(EMAIL);
  const reads = Array.from({ length: 20 }, () => own.request("/api/caches"));
  for (const read of reads) expect((await read).status).toBe(200);
  const outcomes = await known;
  expect(outcomes.filter(([status]) => status === 401)).toHaveLength(5);
  expect(outcomes.filter(([status, , hasRetryAfter]) => status === 429 && hasRetryAfter)).toHaveLength(35);
  expect(await attack("nobody@example.com")).toEqual(outcomes);
  // The right password has to wait as well, or the answer would reveal that it is right.
  expect((await new Browser(own).signIn(EMAIL)).status).toBe(429);
  clock.mockRestore();
  await own.stop();
});
