// Archives, repositories and foreign git servers for tests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SourceRefusal } from "./faults.ts";
import { findGit } from "./git.ts";
import { Repository } from "./repository.ts";
import type { SourceLimits } from "./bounds.ts";

/** A folder for a test, deleted when the test disposes of it. */
export function testFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), "pilvi-sources-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export function openRepository(folder: string, limits?: SourceLimits): Promise<Repository> {
  return Repository.open(join(folder, "app.git"), {
    git: findGit(),
    ...(limits !== undefined && { limits }),
  });
}

export const TEXT = {
  message: "A test's commit\n\nWith a body.",
  author: { name: "Ada <x>\n", email: "ada@example.com" },
  at: new Date(1_790_000_000_000),
};

/** An entry of an archive; a wrong one can be made as well. */
export interface TestEntry {
  path: string | Uint8Array;
  content?: string | Uint8Array;
  type?: string;
  target?: string;
  mode?: number;
  /** The size that the header says, where it differs from the content's. */
  size?: number;
}

/** An archive as bytes, without regard to what is sensible. */
export function tarOf(entries: TestEntry[], end = true): Uint8Array<ArrayBuffer> {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? "");
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    return [headerOf(entry, content.length), content, padding];
  });
  return new Uint8Array(Buffer.concat([...blocks, ...(end ? [Buffer.alloc(1_024)] : [])]));
}

function headerOf({ path, type = "0", target = "", mode = 0o644, size }: TestEntry, length: number): Buffer {
  const block = Buffer.alloc(512);
  Buffer.from(path).copy(block, 0, 0, 100);
  block.write(mode.toString(8).padStart(7, "0"), 100);
  block.write((size ?? length).toString(8).padStart(11, "0"), 124);
  block.write("        ", 148);
  block.write(type, 156);
  block.write(target, 157, 100);
  block.write("ustar\u000000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** A stream that gives the bytes in small pieces. */
export function streamed(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) {
        controller.close();
        return;
      }
      controller.enqueue(bytes.slice(at, at + 700));
      at += 700;
    },
  });
}

/** Runs the git of the machine as a developer would, in a folder. @throws Error when it fails. */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const outcome = await tryGit(folder, ...args);
  if (outcome.code !== 0) throw new Error(`git ${args.join(" ")}: ${outcome.stderr}`);
  return outcome.stdout;
}

export async function tryGit(
  folder: string,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const names = ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "Grace"],
    [`GIT_${who}_EMAIL`, "grace@example.com"],
  ]);
  const child = Bun.spawn(["git", ...args], {
    cwd: folder,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      ...Object.fromEntries(names),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

/** The message of the refusal that a promise ends with. */
export async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof SourceRefusal) return error.message;
  throw new Error(`This is no refusal: ${String(error)}`, { cause: error });
}
