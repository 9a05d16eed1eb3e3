// `pilvi run` at a terminal: keys, sizes and the exit code of a program elsewhere, and the terminal as it was at the end.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeLink } from "../../../src/cli/applications/link.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, TOKEN, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { TerminalProgram } from "../../support/pilvi/terminal.ts";

const PROGRAM = join(import.meta.dir, "../../../src/main.ts");

let pilvi: TestPilvi;
let application: TestApplication;
let folder: string;
let opened: TerminalProgram[] = [];
/** How a terminal is before a program changes it. */
const ordinary = new Map<TerminalProgram, TerminalProgram["modes"]>();

/** A wire to Pilvi that tests cut. */
const sockets = new Set<Socket>();
let wire: Server;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  await application.deploy(bunServer("one"));
  folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-cli-"));
  wire = createServer((from) => {
    const to = connect(pilvi.port, "127.0.0.1");
    from.pipe(to).pipe(from);
    for (const socket of [from, to]) sockets.add(socket.on("error", () => socket.destroy()));
  });
  await new Promise<void>((resolve) => wire.listen(0, "127.0.0.1", resolve));
}, 120_000);

afterEach(async () => {
  await Promise.all(opened.map((program) => program.close()));
  opened = [];
});

afterAll(async () => {
  wire.close();
  rmSync(folder, { recursive: true, force: true });
  await pilvi.close();
});

const processes = (words: string) => Bun.spawnSync(["pgrep", "-f", words]).stdout.toString();

/** The environment of the command line, and a linked folder. */
function linked(url: string): { env: Record<string, string>; cwd: string } {
  const cwd = join(folder, new URL(url).port);
  mkdirSync(cwd, { recursive: true });
  writeLink(cwd, { url, application_id: application.id, environment_id: application.environmentId });
  return { env: { PILVI_URL: url, PILVI_TOKEN: TOKEN }, cwd };
}

function run(words: string[], url = pilvi.url): TerminalProgram {
  const { env, cwd } = linked(url);
  const program = new TerminalProgram([process.execPath, PROGRAM, "run", ...words], env, cwd);
  opened.push(program);
  ordinary.set(program, program.modes);
  return program;
}

/** The exit code; by then the terminal is as it was. */
async function endOf(program: TerminalProgram): Promise<number> {
  const code = await program.exited;
  expect(program.modes).toEqual(ordinary.get(program) ?? program.modes);
  expect(program.isRaw).toBe(false);
  return code;
}

test("a shell gets all keys and sizes, and its exit code is that of the command line", async () => {
  const shell = run(["bash", "--norc"]);
  await shell.shows("bash-");
  expect(shell.isRaw).toBe(true);
  shell.press("echo $((6 * 7)) $(stty size)\r");
  await shell.shows("42 24 200");
  shell.resize(111, 33);
  // The size comes by a signal, after the keys that follow it.
  shell.press("until stty size | grep '33 111'; do sleep 0.01; done\r");
  await shell.shows("\r33 111");
  shell.press("sleep 961\r");
  await until("it sleeps", () => processes("^sleep 961") !== "");
  shell.interrupt();
  await until("the sleep is over", () => processes("^sleep 961") === "");
  shell.press("echo code $?\r");
  await shell.shows("code 130");
  shell.press("echo reading; cat\r");
  await shell.shows("reading\r\n");
  shell.press("grüße\r\u0004");
  await shell.shows("grüße\r\ngrüße");
  shell.press("exit 7\r");
  expect(await endOf(shell)).toBe(7);
});

test("a long output comes whole, and a program in raw mode has each key", async () => {
  const lines = run(["seq 200000; echo over"]);
  expect((await lines.shows("over")).split("\r\n")).toHaveLength(200_001);
  expect(await endOf(lines)).toBe(0);
  const keys = run([
    "bun",
    "-e",
    "process.stdin.setRawMode(true); console.log('ready'); process.stdin.on('data', (key) => { console.log(`key ${key.charCodeAt(0)}`); if (String(key) === 'q') process.exit(3); }).setEncoding('utf8')",
  ]);
  await keys.shows("ready");
  keys.interrupt();
  await keys.shows("key 3\r");
  keys.press("\u0004");
  await keys.shows("key 4\r");
  keys.press("q");
  expect(await endOf(keys)).toBe(3);
});

test("the terminal is given back after a lost connection, and the program ends", async () => {
  const { port } = wire.address() as { port: number };
  const program = run(["echo begun; sleep 962"], `http://127.0.0.1:${port}`);
  await program.shows("begun");
  for (const socket of sockets) socket.destroy();
  await program.shows("The connection to the terminal was lost");
  expect(await endOf(program)).toBe(255);
  await until("nothing is left", () => processes("sleep 962") === "");
});

test("the terminal is given back after a signal, and the program ends", async () => {
  const program = run(["echo begun; trap '' HUP; sleep 963"]);
  await program.shows("begun");
  program.kill("SIGTERM");
  await program.shows("Interrupted. The command was ended.");
  expect(await endOf(program)).toBe(143);
  await until("nothing is left", () => processes("sleep 963") === "");
});

test("the terminal is given back after the host has ended, and the program ends", async () => {
  const program = run(["echo begun; sleep 964"]);
  await program.shows("begun");
  pilvi.kill("host");
  await program.shows("The terminal was closed, and the command ended: The connection to the host was lost.");
  expect(await endOf(program)).toBe(255);
  await pilvi.untilReady();
  await until("nothing is left", () => processes("sleep 964") === "");
});

test("without a terminal on both sides, or with --no-terminal, output is printed and input is not read", async () => {
  const plain = run(["--no-terminal", "--", "test -t 1 || echo no terminal; cat; exit 4"]);
  await plain.shows("no terminal");
  expect(await endOf(plain)).toBe(4);
  const { env, cwd } = linked(pilvi.url);
  const child = Bun.spawn([process.execPath, PROGRAM, "run", "test -t 0 || echo piped"], {
    cwd,
    env: { ...process.env, ...env },
    stdio: [new TextEncoder().encode("typed"), "pipe", "inherit"],
  });
  expect([await child.stdout.text(), await child.exited]).toEqual(["piped\n", 0]);
});
