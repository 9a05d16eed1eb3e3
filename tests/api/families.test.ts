// Organizations that share their quotas share what may run at the same time, too: nobody gets more by another
// organization.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { startApi, type TestApi } from "../support/api/api.ts";
import { RUNTIMES, upload } from "../support/api/applications-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

const UPLOADS_OF_FAMILY = 8;

let api: TestApi;
/** A token of an organization that shares quotas with that of `api.token`, and of an organization that does not. */
let relative: string;
let other: string;

beforeAll(async () => {
  api = await startApi();
  api.offer.runtimes = RUNTIMES;
  relative = await api.newToken(["*"], "relative");
  other = await api.newToken(["*"], "other");
  await api.db`
    update organizations set origin_id = (select family_id from organizations where name = 'default')
    where name = 'relative'`;
});
afterAll(() => api.stop());

/** Begins an upload that does not come to its end. @param onAnswer called when it is refused. */
function beginUpload(onAnswer: () => void): Socket {
  const { host, hostname, port } = new URL(api.origin);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.on("data", onAnswer);

  const lines = [
    "POST /api/plans HTTP/1.1",
    `Host: ${host}`,
    `Authorization: Bearer ${api.token}`,
    "Content-Type: application/x-tar",
    "Content-Length: 1000000",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return socket;
}

/** The status of a plan of another upload. */
const statusOf = async (token: string) => (await upload(api, "/plans", undefined, { token })).status;

test("the places of uploads are those of all organizations that share quotas", async () => {
  let refusals = 0;
  const begun = Array.from({ length: UPLOADS_OF_FAMILY + 1 }, () => beginUpload(() => (refusals += 1)));
  await until("all places are taken", () => refusals === 1);
  expect(await statusOf(relative)).toBe(429);
  expect(await statusOf(other)).toBe(200);
  for (const socket of begun) socket.destroy();
  await until("there is room again", async () => (await statusOf(relative)) === 200);
});
