// The lines that the log of a build keeps of a step's output, and secrets where it cuts lines that are too long.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lineText } from "../../contracts/builds.ts";
import { BuildLogWriter, readBuildLog, StepOutput } from "./build-log.ts";

/** No eight characters of these stand in them twice, or in the rest of the output. */
const SHORT = "tok-5e9a1c7d3b8f2046-wq";
const LONG = Array.from({ length: 40 }, (_, index) => `k${String(index * 7919).padStart(6, "0")}`).join("-");

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-log-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The log of a step whose output comes in chunks of so many bytes. */
async function logOf(output: string, chunkBytes: number, secrets: string[]): Promise<string> {
  const path = join(folder, "log.jsonl");
  rmSync(path, { force: true });
  const log = await BuildLogWriter.of(path, secrets);
  const step = new StepOutput(log, "build");
  const bytes = Buffer.from(output);
  const take = step.stream();
  for (let at = 0; at < bytes.length; at += chunkBytes) take(bytes.subarray(at, at + chunkBytes));
  step.end();
  log.close();
  return readFileSync(path, "utf8");
}

function textsOf(log: string): string[] {
  const lines = log.trimEnd().split("\n");
  return lines.map((line) => (JSON.parse(line) as { text: string }).text);
}

/** The parts of eight characters of a value that a log shows. */
function shownOf(value: string, log: string): string[] {
  const parts = Array.from({ length: value.length - 7 }, (_, at) => value.slice(at, at + 8));
  return parts.filter((part) => log.includes(part));
}

test.each([
  ["a value", SHORT],
  ["a long value", LONG],
])("%s that lies across the cut of a line is not in the log", async (_what, value) => {
  const first = 4_096 - value.length - 4;
  for (let offset = first; offset <= 4_100; offset += 1) {
    for (const end of ["\n", ` and ${"y".repeat(9_000)}\n`, ""]) {
      const output = `${"x".repeat(offset)}${value}${end}`;
      for (const chunkBytes of [output.length, 1_000]) {
        const log = await logOf(output, chunkBytes, [value, "another-value"]);
        expect([offset, end.length, chunkBytes, shownOf(value, log)]).toEqual([
          offset,
          end.length,
          chunkBytes,
          [],
        ]);
      }
    }
  }
});

test("a value with a carriage return in it is not in the log", async () => {
  const value = "first-half\rsecond-half";
  expect(await logOf(`say ${value}\n`, 1_000, [value])).toContain('"text":"say [secret]"');
});

test("the errors of a step come between no parts of its output, also in the middle of a secret or a letter", async () => {
  const path = join(folder, "log.jsonl");
  const log = await BuildLogWriter.of(path, [SHORT]);
  const step = new StepOutput(log, "build");
  const [output, errors] = [step.stream(), step.stream()];
  const bytes = Buffer.from(`${SHORT} and ü\n`);
  for (let at = 0; at < bytes.length; at += 1) {
    output(bytes.subarray(at, at + 1));
    errors(Buffer.from("e"));
  }
  step.end();
  log.close();
  const texts = textsOf(readFileSync(path, "utf8"));
  expect(texts).toEqual(["[secret] and ü", "e".repeat(bytes.length)]);
});

test("an unfinished line is shown in parts, with all that is no secret", async () => {
  const log = await logOf(`${"x".repeat(5_000)}${SHORT}${"y".repeat(5_000)}`, 100, [SHORT]);
  const texts = textsOf(log);
  expect(texts.join("")).toBe(`${"x".repeat(5_000)}[secret]${"y".repeat(5_000)}`);
  expect(Math.max(...texts.map(({ length }) => length))).toBe(4_096);
});

test("a line that a program wrote again and again is kept as it was last", async () => {
  const log = await logOf("10%\r50%\r100%\r\r\ndone\r\n\r\r\n\n", 1_000, []);
  expect(textsOf(log)).toEqual(["100%", "done", "", ""]);
});

test("a line of very many carriage returns is kept like all others", async () => {
  expect(textsOf(await logOf(`${"\r".repeat(4 << 20)}x\n`, 8 << 20, []))).toEqual(["x"]);
});

test("the parts of a long line say that it goes on, and no line of the other stream is put to them", async () => {
  const path = join(folder, "log.jsonl");
  const log = await BuildLogWriter.of(path, []);
  const step = new StepOutput(log, "build");
  const [output, errors] = [step.stream(), step.stream()];
  const long = "x".repeat(10_000);
  output(Buffer.from(`${long}\nshort\n${"y".repeat(5_000)}`));
  errors(Buffer.from("error\n"));
  output(Buffer.from("z\n50%\r"));
  output(Buffer.from("\r60%".repeat(2_000)));
  step.end();
  log.close();
  const text = readBuildLog(path, 0).lines.map(lineText).join("");
  const [first, second, begun, error, rest, ...progress] = text.split("\n");
  expect([first, second, begun, error]).toEqual([long, "short", "y".repeat(4_096), "error"]);
  expect(rest).toBe(`${"y".repeat(904)}z`);
  expect(progress.filter((line) => line !== "60%")).toEqual([""]);
});

test("no part of a long line ends within a character", async () => {
  const path = join(folder, "log.jsonl");
  const log = await BuildLogWriter.of(path, []);
  const step = new StepOutput(log, "build");
  const line = `${"x".repeat(4_095)}🐻${"y".repeat(4_093)}🐻z`;
  const output = step.stream();
  for (const text of [line, `\n${line}\n`]) output(Buffer.from(text));
  step.end();
  log.close();
  const { lines } = readBuildLog(path, 0);
  // Each part is written by itself.
  const written = Buffer.concat(lines.map((part) => Buffer.from(lineText(part)))).toString();
  expect(written).toBe(`${line}\n${line}\n`);
});

test("a long line that is cut at the bound ends before the note of that", async () => {
  const path = join(folder, "log.jsonl");
  const log = await BuildLogWriter.of(path, []);
  const step = new StepOutput(log, "build");
  step.stream()(Buffer.from("x".repeat(2 << 20)));
  step.end();
  log.close();
  const texts: string[] = [];
  for (let after = 0; ;) {
    const slice = readBuildLog(path, after);
    if (slice.lines.length === 0) break;
    texts.push(...slice.lines.map(lineText));
    after = slice.next;
  }
  expect(texts.join("").split("\n").slice(1)).toEqual([expect.stringContaining("is not kept"), ""]);
});

test("a long line that comes in parts is kept whole, in several lines", async () => {
  const output = `${"x".repeat(11_999)}\n`;
  const texts = textsOf(await logOf(output, 3_000, [SHORT]));
  expect(texts.join("")).toBe("x".repeat(11_999));
  expect(Math.max(...texts.map(({ length }) => length))).toBe(4_096);
});
