// A program of a hostile tenant that tries what a sandbox must refuse, as a build, as a command and as an application.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { releaseApp } from "../../../src/host/os/layout.ts";
import { applicationSpec, type ApplicationHost } from "./host.ts";

/** What came of each attempt, by its name: `done`, or the code of the error. */
export type Outcomes = Record<string, string>;

/** The words in which a customer's process can run. */
export type Role = "build" | "command" | "application";

/** The names of attempts that a sandbox must let through. */
export const ALLOWED = [
  "own release",
  "own temporary file",
  "program of the system",
  "null device",
  "itself",
];

const PROGRAM = `
const fs = require("node:fs");
const { join } = require("node:path");
const { data, elsewhere, other, pid } = JSON.parse(process.env.TARGETS);
const tmp = process.env.TMPDIR;
const secret = join(elsewhere, "secret");
const outcomes = {};
function attempt(name, task) {
  try { task(); outcomes[name] = "done"; } catch (error) { outcomes[name] = error.code ?? String(error); }
}
attempt("own release", () => fs.readFileSync("intruder.js"));
attempt("own temporary file", () => {
  fs.mkdirSync(join(tmp, "folder-" + process.pid));
  fs.writeFileSync(join(tmp, "file"), "x");
  fs.renameSync(join(tmp, "file"), join(tmp, "folder-" + process.pid, "file"));
});
attempt("program of the system", () => {
  const { exitCode } = Bun.spawnSync(["/bin/sh", "-c", "true"]);
  if (exitCode !== 0) throw new Error(String(exitCode));
});
attempt("null device", () => fs.writeFileSync("/dev/null", "x"));
attempt("itself", () => fs.readFileSync("/proc/self/environ"));
attempt("list of the data directory", () => fs.readdirSync(data));
attempt("key of Pilvi", () => fs.readFileSync(join(data, "key")));
attempt("key of Pilvi through its own root", () => fs.readFileSync(join("/proc/self/root", data, "key")));
attempt("key of Pilvi from its folder", () => {
  const before = process.cwd();
  process.chdir(data);
  try { fs.readFileSync("key"); } finally { process.chdir(before); }
});
attempt("other release", () => fs.readFileSync(join(other, "a.txt")));
attempt("list of the other release", () => fs.readdirSync(other));
attempt("foreign file", () => fs.readFileSync(secret));
attempt("link in the release", () => fs.readFileSync("link"));
attempt("link in the release to a folder", () => fs.readFileSync("folder/secret"));
attempt("new link", () => { fs.symlinkSync(secret, join(tmp, "s" + process.pid)); fs.readFileSync(join(tmp, "s" + process.pid)); });
attempt("hard link", () => fs.linkSync(secret, join(tmp, "h" + process.pid)));
attempt("hard link of the key", () => fs.linkSync(join(data, "key"), join(tmp, "k" + process.pid)));
attempt("change of a foreign file", () => fs.appendFileSync(secret, "x"));
attempt("cut of a foreign file", () => fs.truncateSync(secret, 0));
attempt("new foreign file", () => fs.writeFileSync(join(elsewhere, "new"), "x"));
attempt("removal of a foreign file", () => fs.unlinkSync(secret));
attempt("move of a foreign file", () => fs.renameSync(secret, join(tmp, "moved")));
attempt("passwords of the system", () => fs.readFileSync("/etc/shadow"));
attempt("home of root", () => fs.readdirSync("/root"));
attempt("environment of the host", () => fs.readFileSync("/proc/" + pid + "/environ"));
attempt("files of the host", () => fs.readlinkSync("/proc/" + pid + "/fd/0"));
attempt("open file of the host", () => fs.openSync("/proc/" + pid + "/fd/2", "a"));
attempt("root of the host", () => fs.readdirSync("/proc/" + pid + "/root/"));
attempt("memory of the host", () => fs.openSync("/proc/" + pid + "/mem", "r+"));
attempt("signal to the host", () => process.kill(pid, 0));
if (process.env.ROLE !== "build") attempt("change of the own release", () => fs.appendFileSync("a.txt", "x"));
async function connect(unix) {
  (await Bun.connect({ unix, socket: { data() {} } })).end();
}
async function finish() {
  const socket = join(data, "open.sock");
  outcomes["socket of Pilvi"] = await connect(socket).then(() => "done", (error) => error.code ?? String(error));
  return JSON.stringify(outcomes);
}
if (process.env.PORT === undefined) console.log(await finish());
else {
  const answer = await finish();
  Bun.serve({ hostname: process.env.HOST, port: Number(process.env.PORT), fetch: () => new Response(answer) });
}
`;

/**
 * Lets the program try everything in each role. Whatever modes can allow is allowed to it, so that the sandbox alone can
 * refuse.
 * @param elsewhere a folder beside the data directory, which is made.
 */
export async function intrude(host: ApplicationHost, elsewhere: string): Promise<Record<Role, Outcomes>> {
  const secret = join(elsewhere, "secret");
  makeOpen(elsewhere);
  const other = await host.build({ environment: "env-other" }, { "a.txt": "a secret" });
  if (other.failure !== null) throw new Error(other.failure.message);
  const otherApp = releaseApp(host.dataDir, other.id);
  chmodSync(dirname(otherApp), 0o755);
  writeFileSync(join(host.dataDir, "key"), "a secret");
  chmodSync(join(host.dataDir, "key"), 0o666);
  const unix = join(host.dataDir, "open.sock");
  const listener = Bun.listen({ unix, socket: { data: () => undefined } });
  chmodSync(unix, 0o777);
  const targets = { data: host.dataDir, elsewhere, other: otherApp, pid: process.pid };
  const variables = (ROLE: Role) => ({ TARGETS: JSON.stringify(targets), ROLE });
  const files = { "intruder.js": PROGRAM, "a.txt": "own" };
  try {
    const links = `ln -s ${secret} link; ln -s ${elsewhere} folder`;
    const command = `${links}; bun intruder.js`;
    const build = await host.build(
      { steps: [{ name: "build", command }], variables: variables("build") },
      files,
    );
    const run = await host.runIn(build.id, {
      steps: [{ name: "command", command: "bun intruder.js" }],
      variables: variables("command"),
    });
    const spec = applicationSpec({
      release: build.id,
      command: "bun intruder.js",
      variables: variables("application"),
    });
    const { lastError } = await host.host.ensure(spec);
    if (lastError !== null) throw new Error(lastError);
    const answer = await fetch(`http://127.0.0.1:${spec.exposure.port}/`);
    return {
      build: await outcomesOf(host, build.id),
      command: await outcomesOf(host, run.id),
      application: (await answer.json()) as Outcomes,
    };
  } finally {
    listener.stop(true);
  }
}

/** A folder with a file, open to every user. */
function makeOpen(folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, "secret"), "a secret");
  chmodSync(folder, 0o777);
  chmodSync(join(folder, "secret"), 0o666);
}

async function outcomesOf(host: ApplicationHost, id: string): Promise<Outcomes> {
  const texts = await host.texts(id);
  const line = texts.find((text) => text.startsWith("{"));
  if (line === undefined) throw new Error(texts.join("\n"));
  return JSON.parse(line) as Outcomes;
}
