// Checks that the documentation speaks of what exists: settings, commands, options, dependencies, files.
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { createProgram } from "../../src/commands.ts";
import { loadClientConfig, loadConfig } from "../../src/config.ts";
import { byteSizeText } from "../../src/lib/byte-size.ts";
import { kinds } from "../../src/resources/index.ts";
import { anchors, markdown, markdownFiles, prose, settingRows } from "./markdown.ts";
import { ROOT } from "./source.ts";

const SETTING_FILES = ["README.md", "docs/configuration.md"];

const config = loadConfig({});
const NONE = "none";

/** All clones of the repository carry them. */
const MAX_PICTURE_BYTES = 1_500_000;

/** What begins like a command, and is the line of a start or what commander itself adds. */
const NO_COMMANDS = /^(ready|help) /;

/** What the documentation must say of each default. */
const DEFAULTS: Record<string, string> = {
  PILVI_HOST: `\`${config.host}\``,
  PILVI_PORT: `\`${config.port}\``,
  PILVI_DATA_DIR: "`~/.pilvi`, as root `/var/lib/pilvi`",
  PILVI_ENGINES_DIR: `\`${relative(config.dataDir, config.enginesDir)}\` in the data directory`,
  PILVI_KEY_FILE: `\`${relative(config.dataDir, config.keyFile)}\` in the data directory`,
  PILVI_BOOTSTRAP_TOKEN: NONE,
  PILVI_DATABASE_URL: NONE,
  PILVI_BIND: `\`${config.bind}\``,
  PILVI_PUBLIC_HOST: "the address in `PILVI_BIND`",
  PILVI_RATE_LIMIT: `\`${config.rateLimitPerMinute}\``,
  PILVI_PORT_RANGE: `\`${config.portRange.first}-${config.portRange.last}\``,
  PILVI_WARM_SLOTS: `\`${config.warmSlots}\``,
  PILVI_APPS_DOMAIN: `\`${config.edge.domain}\``,
  PILVI_EDGE_HTTP: "`8080`, as root `80`",
  PILVI_EDGE_HTTPS: "none; with `PILVI_TLS_CERT` `8443`, as root `443`",
  PILVI_TLS_CERT: NONE,
  PILVI_TLS_KEY: NONE,
  PILVI_TLS_DIR: NONE,
  PILVI_INSECURE: "`0`",
  PILVI_WEBHOOK_ALLOW_PRIVATE: "`0`",
  PILVI_LOCAL_GIT_SERVERS: NONE,
  PILVI_QUOTA_RESOURCES: `\`${config.quotas.resources}\``,
  PILVI_QUOTA_CACHES: `\`${config.quotas.caches}\``,
  PILVI_QUOTA_DATABASES: `\`${config.quotas.databases}\``,
  PILVI_QUOTA_WEBSOCKETS: `\`${config.quotas.websockets}\``,
  PILVI_QUOTA_APPLICATIONS: `\`${config.quotas.applications}\``,
  PILVI_QUOTA_MEMORY: `\`${byteSizeText(config.quotas.memoryBytes)}\``,
  PILVI_QUOTA_STORAGE: `\`${byteSizeText(config.quotas.storageBytes)}\``,
  PILVI_QUOTA_CONNECTIONS: `\`${config.quotas.connections}\``,
  PILVI_QUOTA_PORTS: "half of the ports in `PILVI_PORT_RANGE`",
  PILVI_BACKUP_TARGETS: "`backups` in the data directory",
  PILVI_BACKUP_BYTES_PER_SECOND: `\`${config.backups.bytesPerSecond}\``,
  PILVI_BACKUP_VERIFICATION_SECONDS: `\`${config.backups.verificationSeconds}\``,
  PILVI_S3_ENDPOINT: NONE,
  PILVI_S3_REGION: NONE,
  PILVI_S3_ACCESS_KEY_ID: NONE,
  PILVI_S3_SECRET_ACCESS_KEY: NONE,
  PILVI_EVENTS_DAYS: `\`${config.eventsDays}\``,
  PILVI_AUDIT_DAYS: `\`${config.auditDays}\``,
  PILVI_ENVIRONMENT_LOG_DAYS: `\`${config.environmentLogs.days}\``,
  PILVI_ENVIRONMENT_LOG_BYTES: "`256mb`",
  PILVI_LOG_LEVEL: `\`${config.logLevel}\``,
  PILVI_URL: `\`${loadClientConfig({}).url}\``,
  PILVI_TOKEN: "`token` in the data directory",
};

describe("settings", () => {
  const files = ["src/config.ts", "src/lib/quota-settings.ts"];
  const texts = files.map((path) => readFileSync(join(ROOT, path), "utf8")).join("\n");
  const names = new Set(texts.match(/PILVI_[A-Z0-9_]+/g));

  test("all of the source are known to this test", () => {
    expect([...names].sort()).toEqual(Object.keys(DEFAULTS).sort());
  });

  test.each(SETTING_FILES)("all stand in a table of %s with their defaults", (path) => {
    const rows = settingRows(path);
    const shown = Object.fromEntries([...rows].map(([name, [preset = ""]]) => [name, preset]));
    expect(shown).toEqual(DEFAULTS);
  });
});

describe("the command line", () => {
  const text = markdown("docs/cli.md");

  test("every command has a heading in docs/cli.md, and every option stands below it", () => {
    const missing: string[] = [];
    for (const { name, options } of commandsBelow(createProgram())) {
      const section = sectionOf(text, name);
      if (section === undefined) missing.push(`docs/cli.md has no heading \`${name}\``);
      for (const option of options) {
        if (section?.includes(`\`${option}`) === false) missing.push(`docs/cli.md, ${name}: ${option}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test("no command is documented that does not exist", () => {
    const names = new Set(commandsBelow(createProgram()).map(({ name }) => name));
    const documented = [...text.matchAll(/^##+ `(pilvi [^`<[]+?)[ `<[]*(?:<[^>]*>)?`/gm)].map(
      ([, name]) => name,
    );
    expect(documented.filter((name) => name !== undefined && !names.has(name))).toEqual([]);
  });
});

test("the commands that the documentation shows have the options and the arguments that they are given", () => {
  const faults = markdownFiles()
    .filter((path) => path !== "CHANGELOG.md")
    .flatMap((path) => shownCommands(markdown(path)).flatMap((shown) => faultsOf(path, shown)));
  expect(faults).toEqual([]);
});

test("the commands that sentences of the documentation name exist", () => {
  const faults = markdownFiles()
    .filter((path) => path !== "CHANGELOG.md")
    .flatMap((path) =>
      [...prose(path).matchAll(/`(?:npx )?pilvi ([a-z][^`]*)`/g)]
        .map(([, words = ""]) => words)
        .filter((words) => !NO_COMMANDS.test(words) && !exists(words.split(/\s+/)))
        .map((words) => `${path}: pilvi ${words}`),
    );
  expect(faults).toEqual([]);
});

test("every kind of resource has a guide, and every dependency its line of why", () => {
  const missing = kinds.map(({ name }) => `docs/${name}.md`).filter((path) => !existsSync(join(ROOT, path)));
  expect(missing).toEqual([]);
  const why = markdown("CONTRIBUTING.md");
  const { dependencies, devDependencies, optionalDependencies } = packageJson;
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(names.filter((name) => !why.includes(`\`${name}\``))).toEqual([]);
});

test("every folder of src/ stands in ARCHITECTURE.md", () => {
  const text = markdown("ARCHITECTURE.md");
  const folders = new Bun.Glob("*/").scanSync({ cwd: join(ROOT, "src"), onlyFiles: false });
  expect([...folders].filter((folder) => !text.includes(`\`${folder.replace(/\/$/, "")}`))).toEqual([]);
});

test("every file of the source that the documentation names exists", () => {
  const faults = markdownFiles()
    .filter((path) => path !== "CHANGELOG.md")
    .flatMap((path) =>
      [...prose(path).matchAll(/`((?:src|tests|scripts|migrations|docs|bench)\/[\w./-]+)`/g)]
        .map(([, named = ""]) => named)
        .filter((named) => !existsSync(join(ROOT, named)))
        .map((named) => `${path} names ${named}, which is not there`),
    );
  expect(faults).toEqual([]);
});

test("every relative link in the documentation leads somewhere", () => {
  const faults = markdownFiles().flatMap((path) =>
    [...prose(path).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = ""]) => link)
      .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(path, link))
      .map((link) => `${path} links to ${link}, which is not there`),
  );
  expect(faults).toEqual([]);
});

test("docs/console.md shows all pictures of the console in both themes, and they are small", () => {
  const folder = join(ROOT, "docs/images/console");
  const kept = readdirSync(folder).sort();
  const shown = [...markdown("docs/console.md").matchAll(/images\/console\/([\w.-]+)"/g)].map(
    ([, name = ""]) => name,
  );
  expect(shown.sort()).toEqual(kept);
  expect(kept.map((name) => name.replace("-dark.", "-light."))).toEqual(
    kept.map((_, index) => kept[index - (index % 2) + 1] ?? ""),
  );
  const bytes = kept.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  expect(bytes).toBeLessThan(MAX_PICTURE_BYTES);
});

function leadsSomewhere(path: string, link: string): boolean {
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? path : join(dirname(path), file);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchors(target).has(anchor);
}

/** The text below the heading of a command, up to the next heading. */
function sectionOf(text: string, name: string): string | undefined {
  const sections = text.split(/^##+ /m);
  return sections.find((section) => new RegExp(`^\`${name}(?: <[^\`]*>)?\``).test(section));
}

/** The words of each `pilvi` command in a block of a shell, with its continued lines. */
function shownCommands(text: string): string[][] {
  const blocks = [...text.matchAll(/^ *```(?:sh|bash)\n(.*?)^ *```/gms)].map(([, block = ""]) => block);
  return blocks
    .flatMap((block) => block.replaceAll(/\\\n */g, "").split("\n"))
    .map((line) => /^ *(?:npx )?pilvi (.*)$/.exec(line)?.[1])
    .filter((line) => line !== undefined)
    .map((line) => (line.match(/'[^']*'|"[^"]*"|[^\s]+/g) ?? []).filter((word) => !word.startsWith("#")));
}

/** What is wrong with a command: it does not exist, or lacks an option, or takes fewer or more arguments. */
function faultsOf(path: string, words: string[]): string[] {
  const shown = `${path}: pilvi ${words.join(" ")}`;
  let command = createProgram();
  const rest = [...words];
  for (let below = find(command, rest[0]); below !== undefined; below = find(command, rest[0])) {
    command = below;
    rest.shift();
  }
  const end = rest.findIndex((word) => ["|", "--", ">", "&&", "<"].includes(word));
  const given = end < 0 ? rest : rest.slice(0, end);
  let count = 0;
  for (let index = 0; index < given.length; index += 1) {
    const word = given[index] ?? "";
    if (!word.startsWith("--")) {
      count += 1;
      continue;
    }
    const [name] = word.split("=");
    const option = command.options.find(({ long }) => long === name);
    if (option === undefined) return [`${shown} (${name})`];
    if (option.required && !word.includes("=")) index += 1;
  }
  const { registeredArguments: known } = command;
  const least = known.filter(({ required }) => required).length;
  const most = known.some(({ variadic }) => variadic) ? Infinity : known.length;
  return count >= least && count <= most ? [] : [`${shown} (${count} arguments)`];
}

/** Whether the words begin with a command; a group of commands may be named alone. */
function exists([...words]: string[]): boolean {
  let command = createProgram();
  while (command.commands.length > 0 && /^[a-z-]+$/.test(words[0] ?? "")) {
    const below = find(command, words.shift());
    if (below === undefined) return command.registeredArguments.length > 0;
    command = below;
  }
  return true;
}

function find(command: Command, name: string | undefined): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}

interface CommandHelp {
  /** Such as `pilvi caches create`. */
  name: string;
  /** Long names such as `--wait`; only those that the command has itself. */
  options: string[];
}

/**
 * The commands without further commands below them, and those that have options themselves.
 * @param path the names of the commands above, with its own.
 */
function commandsBelow(command: Command, path = command.name()): CommandHelp[] {
  const options = optionsOf(command);
  const isCommand = command.commands.length === 0 || (command.parent !== null && options.length > 0);
  const below = command.commands.flatMap((each) => commandsBelow(each, `${path} ${each.name()}`));
  return isCommand ? [{ name: path, options }, ...below] : below;
}

function optionsOf(command: Command): string[] {
  return command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);
}
