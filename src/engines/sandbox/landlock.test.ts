// The sandbox by Landlock by itself: on kernels of each version, for users of their own and for a shared user.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { loadConfig } from "../../config.ts";
import { landlockAbi } from "../../lib/libc.ts";
import { findTool } from "../tools/tools.ts";
import { hasLandlock, LANDLOCK_VARIABLES } from "./landlock.ts";
import { findLandlock, findSandbox, isolationSentence } from "./probe.ts";
import { NO_SANDBOX, sandboxed, type Sandbox, type View } from "./sandbox.ts";

const ACCOUNT = process.getuid?.() === 0 ? { uid: 64_111, gid: 64_111 } : null;
const CHECKOUT = resolve(import.meta.dir, "../../..");

let folder: string;
let own: string;
let foreign: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-landlock-"));
  own = join(folder, "own");
  foreign = join(folder, "foreign");
  mkdirSync(own);
  writeFileSync(foreign, "foreign");
  for (const path of [folder, own]) chmodSync(path, 0o755);
  if (ACCOUNT !== null) for (const path of [own, foreign]) chownSync(path, ACCOUNT.uid, ACCOUNT.gid);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function sandbox(changes: Partial<Extract<Sandbox, { level: "landlock" }>> = {}): Sandbox {
  return { level: "landlock", abi: landlockAbi(), isUserShared: true, env: LANDLOCK_VARIABLES, ...changes };
}

/** Runs a command in a sandbox with one folder of its own. */
function run(command: string[], within = sandbox(), changes: Partial<View> = {}) {
  const view = { mounts: [], links: [], temporary: own, directory: own, endsWithParent: true, ...changes };
  const { stdout, stderr, exitCode } = Bun.spawnSync(sandboxed(within, view, command), {
    cwd: "/",
    env: within.env,
    ...ACCOUNT,
  });
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

function shell(script: string, within?: Sandbox) {
  return run(["/bin/sh", "-c", script], within);
}

/** The outcome of an expression of Perl that is true when it was allowed. */
function perl(expression: string, within?: Sandbox): string {
  return run(["/usr/bin/perl", "-e", `use Socket; print((${expression}) ? "done" : $!)`], within).stdout;
}

describe("a kernel with rules of version", () => {
  const versions = Array.from({ length: Math.max(0, landlockAbi() - 1) }, (_, index) => index + 2);

  test.each(versions)("%d lets a process work in its own folder, and open nothing else", (abi) => {
    const within = sandbox({ abi });
    const script = `set -e; umask 022; mkdir -p a b; echo own > a/f; mv a/f b/f; cat b/f; ls b /usr >/dev/null; echo x > /dev/null; cd b; pwd`;
    expect(shell(script, within)).toEqual({ stdout: `own\n${own}/b\n`, stderr: "", exitCode: 0 });
    for (const refused of [`ls ${folder}`, `cat ${foreign}`, `echo x >> ${foreign}`, `rm ${foreign}`])
      expect([refused, shell(refused, within).exitCode]).not.toEqual([refused, 0]);
    expect(perl(`truncate "${foreign}", 0`, within)).not.toBe("done");
    expect(perl(`truncate "b/f", 0`, sandbox({ abi, isUserShared: false }))).toBe("done");
    expect(readFileSync(foreign, "utf8")).toBe("foreign");
  });

  test.each([0, 1])("%d is not enough", (abi) => {
    expect(hasLandlock(abi)).toBe(false);
  });
});

describe("a process that shares the user of Pilvi", () => {
  test("makes no socket that reaches others of this user", () => {
    expect(perl("socket(S, AF_UNIX, SOCK_STREAM, 0)")).toBe("Permission denied");
    expect(perl("socket(S, AF_UNIX, SOCK_DGRAM, 0)")).toBe("Permission denied");
    expect(perl("socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0)")).toBe("Permission denied");
    expect(perl("socketpair(A, B, AF_UNIX, SOCK_RAW, 0)")).toBe("Permission denied");
    expect(perl("socketpair(A, B, AF_UNIX, SOCK_STREAM, 0)")).toBe("done");
    expect(perl("socket(S, AF_INET, SOCK_STREAM, 0)")).toBe("done");
    expect(perl("syscall(425, 8, 0) >= 0")).toBe("Function not implemented");
    expect(perl("socket(S, AF_UNIX, SOCK_STREAM, 0)", sandbox({ isUserShared: false }))).toBe("done");
  });

  test("changes no limits of other processes, and its own", () => {
    const others = shell(`/usr/bin/prlimit --pid ${process.pid} --nofile=100:100`);
    expect(others.stderr).toContain("Operation not permitted");
    expect(shell("ulimit -n 50; ulimit -n").stdout).toBe("50\n");
  });
});

describe.each([true, false])("a process whose user is that of Pilvi (%p)", (isUserShared) => {
  const within = sandbox({ isUserShared });
  const { x64, arm64 } = { x64: [29, 64, 68, 240], arm64: [194, 190, 186, 180] };
  const [shmget, semget, msgget, open] = process.arch === "x64" ? x64 : arm64;

  test("takes nothing of which the machine has a number for all, and which outlives it", () => {
    // Otherwise one process could take all that there are, and no Postgres would start.
    for (const call of [`${shmget}, 0, 4096, 01600`, `${semget}, 0, 1, 01600`, `${msgget}, 0, 01600`])
      expect(perl(`syscall(${call}) >= 0`, within)).toBe("Operation not permitted");
    const queue = `($name = "pilvi-${process.pid}") && syscall(${open}, $name, 0102, 0600, 0) >= 0`;
    expect(perl(queue, within)).toBe("Operation not permitted");
  });

  test("may do what a runtime does", () => {
    const program = `
      new Worker("data:text/javascript,postMessage(new SharedArrayBuffer(8).byteLength)").onmessage = ({ data }) => {
        const { stdout } = Bun.spawnSync(["/bin/sh", "-c", "echo child"]);
        console.log(data, stdout.toString());
        process.exit();
      };`;
    const mounts = [{ from: process.execPath, to: process.execPath, isWritable: false }];
    const ran = run([process.execPath, "-e", program], within, { mounts });
    expect(ran).toEqual({ stdout: "8 child\n\n", stderr: "", exitCode: 0 });
  });
});

test("an exit code, a missing program and a missing folder are reported", () => {
  expect(shell("exit 7").exitCode).toBe(7);
  expect(run(["/nothing"])).toMatchObject({ exitCode: 127, stderr: "/nothing: No such file or directory\n" });
  const mounts = [{ from: join(folder, "gone"), to: "/app", isWritable: false }];
  expect(run(["/bin/true"], sandbox(), { mounts })).toMatchObject({
    exitCode: 125,
    stderr: `the sandbox cannot be made: ${join(folder, "gone")}: No such file or directory\n`,
  });
});

test("git does not complain about settings of the machine", () => {
  expect(shell("git --version")).toMatchObject({ stderr: "", exitCode: 0 });
});

test("an argument that looks like a word of the launcher stays an argument", () => {
  expect(run(["/bin/echo", "--", "-e", "15:/"]).stdout).toBe("-- -e 15:/\n");
});

test("the launcher is found where bubblewrap is missing", () => {
  const isOfSystem = findTool("bubblewrap", folder) !== null;
  const found = findSandbox(folder, { account: ACCOUNT });
  expect(found.level).toBe(isOfSystem ? "bubblewrap" : "landlock");
  expect(findLandlock({ account: ACCOUNT })).toEqual(sandbox({ isUserShared: ACCOUNT === null }));
});

test("the launcher is found where bubblewrap is there and does not work, as within such a sandbox", () => {
  const { enginesDir } = loadConfig(process.env);
  const finder = join(CHECKOUT, "tests/support/applications/sandbox-finder.ts");
  const command = [process.execPath, finder, enginesDir];
  const paths = [CHECKOUT, enginesDir, process.execPath].filter((path) => existsSync(path));
  const mounts = paths.map((from) => ({ from, to: from, isWritable: false }));
  expect(Bun.spawnSync(command).stdout.toString()).toBe("bubblewrap\n");
  expect(run(command, sandbox(), { mounts })).toMatchObject({ stdout: "landlock\n", exitCode: 0 });
});

test("operators read which sandbox holds, why, and what it leaves open", () => {
  expect(isolationSentence(NO_SANDBOX, folder)).toStartWith("applications and builds run without a sandbox");
  const shared = isolationSentence(sandbox({ abi: 4 }), folder);
  expect(shared).toContain("Landlock, version 4");
  expect(shared).toContain("can end processes of this user");
  expect(isolationSentence(sandbox({ abi: 6 }), folder)).not.toContain("can end processes");
  expect(isolationSentence(sandbox({ isUserShared: false }), folder)).not.toContain("this user");
});
