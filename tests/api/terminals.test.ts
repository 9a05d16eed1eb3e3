// The handshake of a terminal: a page of another site cannot begin it with the cookie of a session.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";
import { ownerOf } from "../support/api/browser.ts";

const PATH = "/commands/comm-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f/terminal";
const HANDSHAKE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});

afterAll(() => api.stop());

/** The status of an answer, and the fields that it refuses. */
async function answerTo(query: string, headers: Record<string, string> = HANDSHAKE) {
  const response = await api.request(`/api${PATH}${query}`, { headers });
  return [response.status, Object.keys(((await response.json()) as { errors?: object }).errors ?? {})];
}

test("a session opens a terminal from a page of Pilvi alone", async () => {
  const owner = await ownerOf(api);
  const from = async (headers: Record<string, string>) =>
    (await owner.send("GET", `${PATH}?columns=80&rows=24`, undefined, { ...HANDSHAKE, ...headers })).status;
  expect(await from({})).toBe(404);
  expect(await from({ Origin: "https://elsewhere.example" })).toBe(403);
  expect(await from({ Origin: "null" })).toBe(403);
});

test("the size of the window is checked, and an ordinary request refused", async () => {
  expect(await answerTo("")).toEqual([422, ["columns", "rows"]]);
  expect(await answerTo("?columns=0&rows=24")).toEqual([422, ["columns"]]);
  expect(await answerTo("?columns=80&rows=1001")).toEqual([422, ["rows"]]);
  expect(await answerTo("?columns=80&rows=24", {})).toEqual([426, []]);
});
