// Applications in Python against a whole Pilvi: their virtual environment is kept for the builds that need the same.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findPython } from "../../../src/engines/runtimes/python.ts";
import { runProgram } from "../../support/clients/programs.ts";
import { TestApplication, type Files } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi } from "../../support/pilvi/pilvi.ts";

/** Says when the virtual environment was made, whether its programs run, and whether the build compiled a module. */
const SERVER = `
import http.server, os, subprocess
import words

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        made = os.stat("/app/.venv/pyvenv.cfg").st_mtime_ns
        runs = subprocess.run(["/app/.venv/bin/pip", "--version"], capture_output=True).returncode == 0
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{made} {runs} {os.path.exists(words.__cached__)}".encode())

http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`;

const python = await findPython();
let pilvi: TestPilvi;
let pip: string;

beforeAll(async () => {
  pilvi = await startPilvi();
  pip = (await runProgram(["python3", "-c", "import ensurepip; print(ensurepip.version())"])).trim();
}, 60_000);

afterAll(async () => await pilvi.close());

/** The requirement is there already, so that no registry is asked. */
function source(requirements: string): Files {
  return { "requirements.txt": requirements, "main.py": SERVER, "words.py": "" };
}

test.skipIf(python === null)(
  "the same pinned packages are taken from the build before, and others are installed anew",
  async () => {
    const application = await TestApplication.create(pilvi);
    const made: string[] = [];
    for (const requirements of [`pip==${pip}`, `pip==${pip}`, "pip", "pip"]) {
      const { attributes } = await application.deploy(source(requirements), 120_000);
      expect(attributes).toMatchObject({ status: "deployment.succeeded" });
      const [time = "", ...others] = (await application.text()).split(" ");
      expect(others).toEqual(["True", "True"]);
      made.push(time);
    }
    const [first, second, changed, again] = made;
    expect([second === first, changed === first, again === changed]).toEqual([true, false, true]);
  },
  300_000,
);
