// Plans of the sources in tests/plans, each a file with its files, its settings, and its plan or refusal.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AvailableRuntimes, Plan } from "../contracts/plan.ts";
import { PlanRefusal, SourceFault } from "./faults.ts";
import { planOf } from "./plan.ts";
import type { PlanSettings } from "./settings.ts";
import { SOURCE_BOUNDS } from "./source-files.ts";
import { NO_SETTINGS, sourceOf } from "./test-source.ts";

const FIXTURES = join(import.meta.dir, "../../tests/plans");

const AVAILABLE: AvailableRuntimes = {
  node: ["20.19.5", "22.21.1", "24.11.0"],
  bun: ["1.4.5"],
  deno: ["2.9.0"],
  php: ["8.2.29"],
  python: ["3.11.2"],
};

interface Fixture {
  files: Record<string, string>;
  settings?: Partial<PlanSettings>;
  plan?: Partial<Plan>;
  refusal?: string;
}

const fixtures = readdirSync(FIXTURES)
  .sort()
  .map((name): [string, Fixture] => [
    name.replace(".json", ""),
    JSON.parse(readFileSync(join(FIXTURES, name), "utf8")),
  ]);

const withPlan = fixtures.filter(([, { plan }]) => plan !== undefined);
const withRefusal = fixtures.filter(([, { refusal }]) => refusal !== undefined);

function makePlan(files: Record<string, string | Uint8Array>, settings: Partial<PlanSettings> = {}) {
  return planOf(sourceOf(files), { ...NO_SETTINGS, ...settings }, AVAILABLE);
}

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof PlanRefusal || error instanceof SourceFault) return error.message;
  throw new Error(`There is a plan, or a fault that is not for people: ${String(error)}`);
}

describe("fixtures", () => {
  test("each has either a plan or a refusal", () => {
    expect(fixtures.length).toBeGreaterThan(60);
    expect(withPlan.length + withRefusal.length).toBe(fixtures.length);
  });

  test.each(withPlan)("%s has the plan that its fixture names", async (_, fixture) => {
    const made = await makePlan(fixture.files, fixture.settings);
    const named = Object.fromEntries(
      Object.entries(made).filter(([name]) => Object.hasOwn(fixture.plan ?? {}, name)),
    );
    expect(named).toEqual({ ...fixture.plan });
  });

  test.each(withRefusal)("%s is refused with the sentence that its fixture names", async (_, fixture) => {
    expect(await messageOf(makePlan(fixture.files, fixture.settings))).toBe(fixture.refusal ?? "");
  });
});

describe("a hostile source", () => {
  const server = { "server.js": "" };

  test("a package.json larger than the bound is refused with both sizes", async () => {
    const large = `{"name": "${"a".repeat(SOURCE_BOUNDS.file)}"}`;
    expect(await messageOf(makePlan({ ...server, "package.json": large }))).toBe(
      "package.json has 1mb; Pilvi reads at most 1mb.",
    );
  });

  const deep = `{"x": ${"[".repeat(500_000)}${"]".repeat(500_000)}}`;

  test.each(["package.json", "composer.json"])(
    "a %s with 500,000 nested lists ends no plan",
    async (file) => {
      const made = await makePlan({ [file]: deep, "index.php": "" });
      expect(made.serving.mode).toBe("php");
    },
  );

  test.each(["railpack.json", "deno.jsonc"])(
    "a %s with 500,000 nested lists is a fault and not a crash",
    async (file) => {
      expect(await messageOf(makePlan({ [file]: deep }))).toBe(`${file} is nested too deeply.`);
    },
  );

  test("a pyproject.toml with 100,000 nested lists is a fault and not a crash", async () => {
    const lists = `x = ${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(await messageOf(makePlan({ "pyproject.toml": lists }))).toBe(
      "pyproject.toml is no valid TOML: line 1.",
    );
  });

  test.each([
    ["a second table of the same name", "[a]\nb = 1\nc = [\n  2,\n]\n[a]\nd = 3\n", 6],
    ["lines that end as on Windows", "a = 1\r\nb = \r\nc = 2\r\n", 2],
    ["a list that nothing ends", "a = 1\nb = [\n  2,\nc = 3\n", 2],
    ["a text that nothing ends", `a = 1\n\nb = """\n${"c = 3\n".repeat(1_000)}`, 3],
    [
      "2,900 keys before its fault",
      `${Array.from({ length: 2_900 }, (_, at) => `a${at} = 1`).join("\n")}\nb`,
      2_901,
    ],
  ])("a pyproject.toml with %s is refused with the line", async (_, text, line) => {
    expect(await messageOf(makePlan({ "pyproject.toml": text }))).toBe(
      `pyproject.toml is no valid TOML: line ${line}.`,
    );
  });

  test("a pyproject.toml with a list of long lines that nothing ends is refused without the line", async () => {
    const text = `x = [\n${`${"1,".repeat(260)}\n`.repeat(1_999)}`;
    expect(await messageOf(makePlan({ "pyproject.toml": text }))).toBe("pyproject.toml is no valid TOML.");
  });

  test.each([
    ["tables", (name: string) => `[${name}]\n`],
    ["keys", (name: string) => `${name}=1\n`],
    ["keys of a table in a line", (name: string) => `${name}=1,`],
  ])("a pyproject.toml of 1 MiB with nothing but %s is refused", async (what, partOf) => {
    const parts = Array.from({ length: 100_000 }, (_, at) => partOf(`a${at}`)).join("");
    const text = what.endsWith("line") ? `x = {${parts}}` : parts;
    expect(await messageOf(makePlan({ "pyproject.toml": text.slice(0, SOURCE_BOUNDS.file) }))).toBe(
      "pyproject.toml has more than 3000 keys; Pilvi reads no more of TOML.",
    );
  });

  test("invalid UTF-8 is named with its byte, behind characters that were replaced before", async () => {
    const bytes = Buffer.concat([Buffer.from('{"name": "\ufffd'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(await messageOf(makePlan({ "package.json": new Uint8Array(bytes) }))).toBe(
      "package.json is no UTF-8 text: byte 14.",
    );
  });

  test("half of a character in a command is replaced, since nothing can keep it", async () => {
    const railpack = String.raw`{"deploy": {"startCommand": "node a.js \ud83d"}}`;
    const made = await makePlan({ ...server, "railpack.json": railpack });
    expect(made.start?.command).toBe("node a.js \ufffd");
  });

  test("a lock file larger than other files still has its version, and a link or a larger one has none", async () => {
    const files = { "package.json": '{"scripts":{"start":"node a.js"}}' };
    const lock = "pnpm-lock.yaml";
    const version = "lockfileVersion: '6.0'\n";
    const large = await makePlan({ ...files, [lock]: version.padEnd(SOURCE_BOUNDS.file + 1, "#") });
    expect(large.install.commands[0]).toEndWith(" pnpm@8");
    const larger = await makePlan({ ...files, [lock]: version.padEnd(SOURCE_BOUNDS.lock + 1, "#") });
    expect(larger.install.commands[0]).toEndWith(" pnpm@10");
    const linked = await planOf(sourceOf(files, [lock]), NO_SETTINGS, AVAILABLE);
    expect(linked.install.commands[0]).toEndWith(" pnpm@10");
  });

  test("a lock file of Python larger than other files has a plan", async () => {
    const files = { "main.py": "", Procfile: "web: python main.py\n", "pyproject.toml": "" };
    for (const lock of ["uv.lock", "poetry.lock", "Pipfile.lock"]) {
      const made = await makePlan({ ...files, [lock]: "#".repeat(SOURCE_BOUNDS.file + 100_000) });
      expect(made.install.origin).toBe(lock);
    }
  });

  test("a link in the place of a file is a fault", async () => {
    const source = sourceOf(server, ["package.json"]);
    expect(await messageOf(planOf(source, NO_SETTINGS, AVAILABLE))).toBe(
      "package.json is a link; Pilvi reads only regular files.",
    );
  });

  test.each(["/*a", "'/*a", "\\`", '\\"', "//"])(
    "a configuration that is nothing but %s, which nothing ends, ends no plan",
    async (text) => {
      const config = text.repeat(Math.floor(SOURCE_BOUNDS.file / text.length));
      const made = await makePlan({
        "package.json": '{"dependencies": {"next": "16"}}',
        "next.config.js": config,
      });
      expect(made.start?.command).toBe("next start");
    },
  );

  const node = { "package.json": '{"scripts":{"start":"node a.js"}}' };
  const python = { "app.py": "" };

  test.each([
    ["Procfile", python, "a:", " ", "x", "Procfile, line 1, has an empty command."],
    [".nvmrc", node, "", "#", "22", "node a.js"],
    [".tool-versions", node, "", "#", "nodejs 22", "node a.js"],
    ["requirements.txt", python, "", " #", "x", "python app.py"],
    ["requirements.txt", python, "a==1", "--hash", "x", "python app.py"],
  ])(
    "a %s of one long line and a short line ends no plan, whatever ends the line",
    async (file, others, beginning, part, lastLine, expected) => {
      for (const lineEnd of ["\r", "\u2028", "\u2029"]) {
        const room = SOURCE_BOUNDS.file - Buffer.byteLength(beginning + lineEnd + lastLine);
        const line = beginning + part.repeat(Math.floor(room / part.length));
        const made = makePlan({ ...others, [file]: line + lineEnd + lastLine });
        const answer = await made.then(
          ({ start }) => start?.command,
          () => messageOf(made),
        );
        expect(answer).toBe(expected);
      }
    },
  );

  test("30,000 scripts are read in time", async () => {
    const scripts = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`s${at}`, "node a"]));
    const text = JSON.stringify({ scripts: { ...scripts, start: "node a.js" } });
    const started = performance.now();
    expect((await makePlan({ "package.json": text })).start?.command).toBe("node a.js");
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test("a Procfile with too many processes is refused", async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `worker${at}: node w.js`).join("\n");
    expect(await messageOf(makePlan({ Procfile: `web: node a.js\n${lines}` }))).toBe(
      "Procfile cannot be used: it has more than 20 processes.",
    );
  });

  test("a script as long as a book is refused", async () => {
    const text = JSON.stringify({ scripts: { start: `node ${"a".repeat(5_000)}` } });
    expect(await messageOf(makePlan({ "package.json": text }))).toBe(
      "package.json: scripts.start has a command of 5005 characters; 2000 are allowed.",
    );
  });

  test("settings out of their bounds are refused", async () => {
    const files = { "package.json": '{"scripts":{"start":"node a"}}' };
    expect(await messageOf(makePlan(files, { buildCommand: "a\n".repeat(51) }))).toContain(
      "51 commands; 50 are allowed",
    );
  });
});
