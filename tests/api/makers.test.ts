// What a member or a token has made, after the member or the token has gone: other tokens, and invitations.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";
import { Browser, ownerOf, PASSWORD, secretIn } from "../support/api/browser.ts";
import { inTransaction, untilSomebodyWaits } from "../support/api/locks.ts";
import { newAddress, newMember, newToken, type TestMember } from "../support/api/members.ts";

let api: TestApi;
let owner: Browser;
let organizationId: string;
beforeAll(async () => {
  api = await startApi();
  owner = await ownerOf(api);
  organizationId = (await owner.send("GET", "/meta/organization")).body.data.id;
});
afterAll(() => api.stop());

const statusFor = async (token: string) => (await api.request("/api/caches", { token })).status;

async function childOf(token: string, abilities = ["*"]): Promise<{ id: string; token: string }> {
  const made = await api.request("/api/tokens", { token, json: { name: "child", abilities } });
  const { data } = (await made.json()) as { data: { id: string; attributes: { token: string } } };
  return { id: data.id, token: data.attributes.token };
}

describe("a token that a token has made", () => {
  test("is revoked with it, and so are those that it has made itself", async () => {
    const maker = await newToken(owner);
    const child = await childOf(maker.token);
    const grandchild = await childOf(child.token, ["caches:read"]);
    const other = await newToken(owner);
    expect((await owner.send("DELETE", `/tokens/${maker.id}`)).status).toBe(204);
    expect(await Promise.all([child, grandchild, other].map(({ token }) => statusFor(token)))).toEqual([
      401, 401, 200,
    ]);
  });

  test("has the user of its maker, and goes with the member", async () => {
    const member = await newMember(api, owner, "admin");
    const child = await childOf((await newToken(member.browser)).token, ["caches:read"]);
    const [row] = await api.db`select user_id as "userId" from tokens where id = ${child.id}`;
    expect(row).toEqual({ userId: member.userId });
    await owner.send("DELETE", `/members/${member.id}`);
    expect(await statusFor(child.token)).toBe(401);
  });

  test("goes when the role of the member becomes lower than its maker", async () => {
    const member = await newMember(api, owner, "admin");
    const maker = await newToken(member.browser, ["caches:read", "tokens:write"]);
    const child = await childOf(maker.token, ["caches:read"]);
    const own = await newToken(member.browser, ["caches:read"]);
    await owner.send("PATCH", `/members/${member.id}`, { role: "developer" });
    expect(await Promise.all([child, own].map(({ token }) => statusFor(token)))).toEqual([401, 200]);
  });

  test("that is being made while its maker is revoked is not left", async () => {
    const maker = await newToken(owner);
    let answer: Promise<unknown> | undefined;
    await inTransaction(api.db, async (tx) => {
      // What making a token does.
      await tx`select from tokens where id = ${maker.id} for share`;
      answer = owner.send("DELETE", `/tokens/${maker.id}`);
      await Promise.race([answer, untilSomebodyWaits(api.db)]);
      await tx`
        insert into tokens (id, organization_id, name, token_hash, abilities, maker_id)
        values ('token-child', ${organizationId}, 'child', 'hash', '{*}', ${maker.id})`;
    });
    await answer;
    const left = await api.db`select from tokens where id = 'token-child' and revoked_at is null`;
    expect(left).toHaveLength(0);
  });
});

const statusOf = async (secret: string) => {
  const body = { secret, email: newAddress(), name: "N", password: PASSWORD };
  return (await new Browser(api).send("POST", "/invitations/accept", body)).status;
};

/** Invites to a role in a session, and to another by a token. */
async function invite({ browser }: TestMember, role: string): Promise<[own: string, byToken: string]> {
  const own = await browser.send("POST", "/invitations", { role });
  const { token } = await newToken(browser);
  const byToken = await inviteBy(token);
  return [secretIn(String(own.body.data.attributes.link)), secretIn(byToken.link)];
}

async function inviteBy(token: string): Promise<{ link: string; expires_at: string }> {
  const made = await api.request("/api/invitations", { token, json: { role: "viewer" } });
  return ((await made.json()) as { data: { attributes: { link: string; expires_at: string } } }).data
    .attributes;
}

describe("the invitations of a member", () => {
  test("end when the member is removed", async () => {
    const member = await newMember(api, owner, "admin");
    const secrets = await invite(member, "admin");
    await owner.send("DELETE", `/members/${member.id}`);
    expect(await Promise.all(secrets.map(statusOf))).toEqual([422, 422]);
  });

  test("end when the member may invite nobody any more", async () => {
    const member = await newMember(api, owner, "admin");
    const secrets = await invite(member, "admin");
    await owner.send("PATCH", `/members/${member.id}`, { role: "developer" });
    expect(await Promise.all(secrets.map(statusOf))).toEqual([422, 422]);
  });

  test("to be owners end when the member is no owner any more, and the others stay", async () => {
    const member = await newMember(api, owner, "owner");
    const secrets = await invite(member, "owner");
    await owner.send("PATCH", `/members/${member.id}`, { role: "admin" });
    expect(await Promise.all(secrets.map(statusOf))).toEqual([422, 201]);
  });

  test("end when the member leaves, and those of others stay", async () => {
    const [member, other] = [await newMember(api, owner, "admin"), await newMember(api, owner, "admin")];
    const [[own], [ofOther]] = [await invite(member, "viewer"), await invite(other, "viewer")];
    const left = await member.browser.send("DELETE", `/organizations/${organizationId}/membership`);
    expect(left.status).toBe(204);
    expect(await Promise.all([own, ofOther].map(statusOf))).toEqual([422, 201]);
  });
});

describe("the invitations of a token", () => {
  test("end when the token or its maker is revoked", async () => {
    const [maker, other] = [await newToken(owner), await newToken(owner)];
    const child = await childOf(maker.token);
    const made = await Promise.all([maker, child, other].map(({ token }) => inviteBy(token)));
    expect((await owner.send("DELETE", `/tokens/${maker.id}`)).status).toBe(204);
    expect(await Promise.all(made.map(({ link }) => statusOf(secretIn(link))))).toEqual([422, 422, 201]);
  });

  test("end with the token", async () => {
    const endsAt = new Date(Date.now() + 60_000).toISOString();
    const { body } = await owner.send("POST", "/tokens", {
      name: "short",
      abilities: ["*"],
      expires_at: endsAt,
    });
    const { expires_at: ends } = await inviteBy(String(body.data.attributes.token));
    expect(Date.parse(ends)).toBe(Date.parse(endsAt));
  });

  test.each([
    ["with limits", { abilities: ["*"], limits: { resources: 1 } }, "limits of its own"],
    ["with fewer abilities", { abilities: ["members:write", "usage:read"] }, "it lacks `caches:read`"],
  ])("are refused to a token %s, and so are changes of roles", async (_what, values, reason) => {
    const { body } = await owner.send("POST", "/tokens", { name: "small", ...values });
    const token = String(body.data.attributes.token);
    const member = await newMember(api, owner, "developer");
    const asked = [
      await api.request("/api/invitations", { token, json: { role: "viewer" } }),
      await api.request(`/api/members/${member.id}`, { token, method: "PATCH", json: { role: "viewer" } }),
    ];
    for (const answer of asked) {
      expect(answer.status).toBe(403);
      expect(((await answer.json()) as { message: string }).message).toContain(reason);
    }
  });
});
