// Repositories behind HTTPS that demand a user name and a password: what is kept, what is shown, and who gets it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ApplicationResource } from "../../src/resources/applications/schema.ts";
import { openLogin } from "../../src/resources/applications/sources/repository-login.ts";
import { loadApplication } from "../../src/resources/applications/store.ts";
import { demanding, serveRepository } from "../../src/sources/test-server.ts";
import { openRepository, streamed, tarOf, testFolder, TEXT } from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication, RUNTIMES, SOURCE } from "../support/api/applications-api.ts";

const URL = "https://git.example.com/shop/web.git";
const PASSWORD = "token-of-the-repository-7f3a";
const LOGIN = { repository: URL, repository_username: "ada", repository_password: PASSWORD };

interface Body {
  data: ApplicationResource;
  errors?: Record<string, string[]>;
}

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ mayReachItself: true });
  api.offer.runtimes = RUNTIMES;
});
afterAll(() => api.stop());

async function make(fields: object): Promise<{ status: number; text: string; body: Body }> {
  return await answerOf(
    api.request("/api/applications", { json: { name: "Shop", region: "us-east-1", ...fields } }),
  );
}

async function change(id: string, json: object) {
  return await answerOf(api.request(`/api/applications/${id}`, { method: "PATCH", json }));
}

async function answerOf(request: Response | Promise<Response>) {
  const response = await request;
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as Body };
}

/** The login that the next fetch uses. */
async function loginOf(id: string) {
  const row = await loadApplication(api.db, id);
  if (row === undefined) throw new Error("there is no application");
  return openLogin(api.context.vault, row);
}

describe("a password of a repository", () => {
  test("is kept sealed, and is in no answer, event or activity", async () => {
    const made = await make(LOGIN);
    expect([made.status, made.body.data.meta.repository_username]).toEqual([201, "ada"]);
    const { id } = made.body.data;
    expect(await loginOf(id)).toEqual({ username: "ada", password: PASSWORD });
    const again = await change(id, { repository_password: `${PASSWORD}-2` });
    expect((await loginOf(id))?.password).toBe(`${PASSWORD}-2`);
    const read = await Promise.all(
      [`/applications/${id}`, "/applications", "/events", "/activity"].map(async (path) => {
        const response = await api.request(`/api${path}`);
        expect(response.status).toBe(200);
        return await response.text();
      }),
    );
    for (const text of [made.text, again.text, ...read]) expect(text).not.toContain(PASSWORD);
    const rows = await api.db`select a::text as text from applications a where id = ${id}`;
    const audit = await api.db`select l::text as text from audit l`;
    expect(JSON.stringify([rows, audit])).not.toContain(PASSWORD);
    expect(JSON.stringify(audit)).toContain("repository_username");
  });

  test("is for one address: another takes it away, unless it comes with another password", async () => {
    const { id } = (await make(LOGIN)).body.data;
    await change(id, { name: "Store", repository: URL });
    expect(await loginOf(id)).toEqual({ username: "ada", password: PASSWORD });
    await change(id, { repository: `${URL}/` });
    expect(await loginOf(id)).toBeNull();
    await change(id, { repository: "https://git.example.org/x.git", repository_password: "another" });
    expect(await loginOf(id)).toEqual({ username: "git", password: "another" });
    await change(id, { repository: null });
    expect(await loginOf(id)).toBeNull();
  });

  test("is taken away by null, and its user name is changed alone", async () => {
    const { id } = (await make(LOGIN)).body.data;
    await change(id, { repository_username: "grace" });
    expect(await loginOf(id)).toEqual({ username: "grace", password: PASSWORD });
    const { body } = await change(id, { repository_password: null });
    expect([body.data.meta.repository_username, await loginOf(id)]).toEqual([null, null]);
    await change(id, { repository_password: PASSWORD });
    await change(id, { repository_username: null });
    expect(await loginOf(id)).toBeNull();
  });

  test.each([
    [{ repository_password: PASSWORD }, "repository_password"],
    [{ ...LOGIN, repository: "git@git.example.com:x.git" }, "repository_password"],
    [{ repository: URL, repository_username: "ada" }, "repository_password"],
    [{ ...LOGIN, repository_username: "a:b" }, "repository_username"],
    [{ ...LOGIN, repository_password: `${PASSWORD}\nhost=evil` }, "repository_password"],
    [{ ...LOGIN, repository_password: "" }, "repository_password"],
  ])("with %j is refused", async (fields, field) => {
    const { status, body, text } = await make(fields);
    expect([status, Object.keys(body.errors ?? {})]).toEqual([422, [field]]);
    expect(text).not.toContain(PASSWORD);
  });

  test("is not sent in clear to another machine", async () => {
    const distant = await startApi();
    try {
      const json = { name: "Shop", region: "us-east-1", ...LOGIN, repository: "http://git.example.com/x" };
      const { status, body } = await answerOf(distant.request("/api/applications", { json }));
      expect([status, Object.keys(body.errors ?? {})]).toEqual([422, ["repository_password"]]);
    } finally {
      await distant.stop();
    }
  });

  test("opens the repository for a plan", async () => {
    using folder = testFolder();
    const origin = await openRepository(folder.path);
    const hash = await origin.commitUpload(streamed(tarOf(SOURCE)), "refs/heads/main", TEXT);
    await using server = serveRepository(origin, { answer: demanding("git", PASSWORD) });
    const { id, environmentId } = await newApplication(api, { name: "Fetched", repository: server.url });
    const plan = () => api.request(`/api/environments/${environmentId}/plan`);
    const refused = await plan();
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain("asks for a password");
    await change(id, { repository_password: PASSWORD });
    const found = await plan();
    expect(found.status).toBe(200);
    expect(await found.text()).toContain(hash);
  });
});
