// A Python application on a real host, with an environment of packages of its own, and with its output in the log.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApplicationHost, applicationSpec } from "../../tests/support/applications/host.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { findPython } from "../engines/runtimes/python.ts";
import { instanceFolder } from "./os/layout.ts";

let host: ApplicationHost;

beforeAll(async () => {
  host = new ApplicationHost();
  await host.start();
});

afterAll(() => host.close());

const SERVER = `
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
import own

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            open("/app/x", "w")
            tried = "written"
        except OSError as error:
            tried = error.strerror
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"prefix": sys.prefix, "own": own.word, "tried": tried}).encode())

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`;

/** Prints a line, and then nothing for as long as it runs. */
const SERVER_THAT_PRINTS = SERVER.replace("import own", 'print("ready to serve")').replace("own.word", '""');

const INSTALL = `test -x .venv/bin/python || python3 -m venv .venv
echo 'word = "package"' > "$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/own.py"
.venv/bin/pip --version`;

const python = await findPython();

test("the runtimes on offer have exact versions", async () => {
  const { runtimes } = await host.host.offer();
  const exact = expect.stringMatching(/^\d+\.\d+\.\d+$/);
  expect(runtimes?.node).toEqual([exact, exact, exact]);
  expect(runtimes?.bun).toEqual([Bun.version]);
  expect(runtimes?.python).toEqual(python === null ? [] : [python.version]);
});

test.skipIf(python === null)("a Python application runs with the packages of its build", async () => {
  const build = await host.build(
    { runtime: { name: "python" }, steps: [{ name: "install", command: INSTALL }] },
    { "main.py": SERVER },
  );
  expect(build.failure).toBeNull();
  const command = 'export PATH="$PWD/.venv/bin:$PATH"\nexec python main.py';
  const spec = applicationSpec({ release: build.id, runtime: { name: "python" }, command });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  const answer = await (await fetch(`http://127.0.0.1:${spec.exposure.port}/`)).json();
  expect(answer).toEqual({ prefix: "/app/.venv", own: "package", tried: "Read-only file system" });
});

test.skipIf(python === null)("a Python application has Node.js beside it", async () => {
  const runtime = { name: "python", node: "24" } as const;
  const command = `mkdir public; node -p process.release.name > public/node; npm --version > public/npm`;
  const build = await host.build({ runtime, steps: [{ name: "build", command }] }, { "main.py": "" });
  expect(build.failure).toBeNull();
  const start = 'cd public && exec python -m http.server --bind 127.0.0.1 "$PORT"';
  const spec = applicationSpec({ release: build.id, runtime, command: `node --version && ${start}` });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  const read = async (file: string) =>
    (await (await fetch(`http://127.0.0.1:${spec.exposure.port}/${file}`)).text()).trim();
  expect([await read("node"), await read("npm")]).toEqual(["node", expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
});

test("a build on Bun has npm and the true Node.js beside it", async () => {
  const command = `npm --version; test "$(node -p 'typeof Bun')" = undefined; bunx --version; test "$(bun -p 'typeof Bun')" = object`;
  const build = await host.build(
    { runtime: { name: "bun", node: "24" }, steps: [{ name: "build", command }] },
    { "main.ts": "" },
  );
  expect(build.failure).toBeNull();
});

test.skipIf(python === null)("a program without packages runs by the name python", async () => {
  const build = await host.build(
    { runtime: { name: "python" } },
    {
      "main.py":
        "import http.server, os\nhttp.server.test(HandlerClass=http.server.SimpleHTTPRequestHandler, port=int(os.environ['PORT']), bind='127.0.0.1')",
    },
  );
  const spec = applicationSpec({ release: build.id, runtime: { name: "python" }, command: "python main.py" });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
});

/** A program whose output is lost where Python keeps it: it ends without writing what it has kept. */
const KILLED = `import os; print("printed"); os.kill(os.getpid(), 9)`;

test.skipIf(python === null)(
  "what a step of a build, a command and a process print is not kept back",
  async () => {
    const runtime = { name: "python" } as const;
    const steps = [{ name: "print", command: "python print.py || true" }];
    const build = await host.build({ runtime, steps }, { "print.py": KILLED, "main.py": SERVER_THAT_PRINTS });
    expect(await host.texts(build.id)).toContain("printed");
    const command = await host.runIn(build.id, { runtime, steps });
    expect(await host.texts(command.id)).toContain("printed");
    const spec = applicationSpec({ release: build.id, runtime, command: "python main.py" });
    expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
    const { log } = instanceFolder(host.dataDir, spec.id);
    await until("the line is there", async () => /^ready to serve$/m.test(await Bun.file(log).text()));
  },
);

test.skipIf(python === null)(
  "a customer's own value decides whether Python keeps its output back",
  async () => {
    const runtime = { name: "python" } as const;
    const variables = { PYTHONUNBUFFERED: "" };
    const steps = [{ name: "print", command: "python print.py 2>&1 || echo ended" }];
    const build = await host.build({ runtime, steps, variables }, { "print.py": KILLED });
    expect(await host.texts(build.id)).not.toContain("printed");
  },
);
