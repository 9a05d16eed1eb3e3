// The lines that `pilvi logs` prints, from a server that speaks the documented shapes.
import { afterEach, expect, test } from "bun:test";
import { ENVIRONMENT_ID, environmentPath } from "../applications/test-support.ts";
import { closeServers, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";

afterEach(closeServers);

test("logs name the class of an exception, and keep the indents of its trace", async () => {
  const exception = { level: "error", type: "exception", logged_at: null };
  const trace = [
    '  File "/app/app.py", line 3, in index',
    '    os.environ["REDIS_URL"]',
    "    ~~~~~~~~~~^^^^ ",
  ];
  const data = [
    { ...exception, message: "'REDIS_URL'", data: { class: "KeyError", trace } },
    { ...exception, message: "KeyError", data: { class: "KeyError", trace: [] } },
    { ...exception, message: "ConfigMissing: no key", data: { class: null, trace: [] } },
  ];
  const page = () => Response.json({ data, meta: { cursor: "c", is_complete: true } });
  const io = fakeIo();
  await runCommand(io, serve({ [`GET ${environmentPath}/logs`]: page }), "logs", ENVIRONMENT_ID);
  const lines = [
    "error    KeyError: 'REDIS_URL'",
    '    File "/app/app.py", line 3, in index',
    '      os.environ["REDIS_URL"]',
    "      ~~~~~~~~~~^^^^",
    "error    KeyError",
    "error    ConfigMissing: no key",
  ];
  expect(io.stdout.replaceAll(" ".repeat(25), "")).toBe(`${lines.join("\n")}\n`);
});

test("lines are printed without their colours, and as JSON as they were written", async () => {
  const message = "\u001b[32m[Nest] 7\u001b[39m  started";
  const entry = { message, level: "info", type: "application", logged_at: null, data: null };
  const page = () => Response.json({ data: [entry], meta: { cursor: "c", is_complete: true } });
  const routes = { [`GET ${environmentPath}/logs`]: page };
  const [io, json] = [fakeIo(), fakeIo()];
  await runCommand(io, serve(routes), "logs", ENVIRONMENT_ID);
  await runCommand(json, serve(routes), "logs", ENVIRONMENT_ID, "--json");
  expect(io.stdout.trim()).toBe("info     [Nest] 7  started");
  expect(JSON.parse(json.stdout)).toMatchObject({ message });
});
