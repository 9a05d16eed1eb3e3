// A fault of Pilvi itself is answered without a detail, and the log has its cause under the id of the request.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import pino from "pino";
import { startApi, type TestApi } from "../support/api/api.ts";

interface Line {
  level: number;
  msg: string;
  requestId: string;
  status?: number;
  error?: { message: string; stack: string };
}

const [INFO, ERROR] = [pino.levels.values.info, pino.levels.values.error];
const lines: Line[] = [];
const write = (line: string) => void lines.push(JSON.parse(line) as Line);
let api: TestApi;

beforeAll(async () => {
  api = await startApi({
    log: pino({ serializers: { error: pino.stdSerializers.err } }, { write }),
    protocols: [
      {
        path: "/faulty",
        handle: async () => {
          throw new Error("a private detail");
        },
      },
    ],
  });
  await api.db`alter table resource_counts rename to lost`;
});
beforeEach(() => void lines.splice(0));
afterAll(() => api.stop());

test.each([
  ["an operation", "/api/caches", 'relation "resource_counts" does not exist'],
  ["a protocol of other programs", "/faulty", "a private detail"],
])("a fault in %s is 500, and its cause is logged", async (_, path, cause) => {
  const response = await api.request(path, { headers: { "X-Request-Id": "request-7" } });
  expect(response.status).toBe(500);
  expect(response.headers.get("x-request-id")).toBe("request-7");
  const text = await response.text();
  expect(text).toContain("Something went wrong here. The log has the details under the request id.");
  expect(text).not.toContain(cause);
  expect(lines).toMatchObject([
    { level: ERROR, msg: "a request failed", requestId: "request-7", error: { message: cause } },
    { level: INFO, msg: "request", requestId: "request-7", status: 500 },
  ]);
  expect(lines[0]?.error?.stack).toContain(cause);
});

test("a fault of the client is no error in the log", async () => {
  expect((await api.request("/api/caches/unknown")).status).toBe(404);
  expect(lines).toMatchObject([{ level: INFO, msg: "request", status: 404 }]);
});
