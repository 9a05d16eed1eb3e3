// Builds the web console into a folder: scripts, style and page, with compressed copies. Run as a program, it takes the
// folder as its argument, or the place where `pilvi up` looks first.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { setPriority } from "node:os";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { compile, optimize } from "@tailwindcss/node";
import { Scanner } from "@tailwindcss/oxide";
import { messageOf, Refusal } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { CHECKOUT_DIR } from "../program/checkout.ts";
import { besides, buildsFolder, nameBuild } from "../program/kept-builds.ts";
import { consoleName, pageFolders } from "./sources.ts";

const SOURCE = join(CHECKOUT_DIR, "src/console");
/** The API and the engines come first while Pilvi starts. */
const LOW_PRIORITY = 10;

interface BuiltFile {
  name: string;
  content: Uint8Array;
}

/**
 * Builds the console aside and then renames it, so that a kill leaves no half-written folder under the name.
 * @throws Refusal with the messages of the compiler.
 */
async function buildConsole(folder: string): Promise<void> {
  const built = await Promise.all([buildScripts(), buildThemeStart(), buildStyle()]);
  const files = built.flat();
  const temporary = besides(folder);
  mkdirSync(join(temporary, "assets"), { recursive: true });
  try {
    for (const { name, content } of files) await write(join(temporary, "assets", name), content);
    await write(join(temporary, "index.html"), Buffer.from(indexPage(files.map(({ name }) => name))));
    await failpoint("console.written");
    for (const each of [temporary, join(temporary, "assets")]) chmodSync(each, 0o755);
    nameBuild(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
}

async function buildScripts(): Promise<BuiltFile[]> {
  return await buildScript("main.tsx", { splitting: true });
}

/** The script that runs before the first paint, which a module cannot. */
async function buildThemeStart(): Promise<BuiltFile[]> {
  return await buildScript("theme-start.ts", { format: "iife" });
}

async function buildScript(entry: string, options: Partial<Bun.BuildConfig>): Promise<BuiltFile[]> {
  const result = await Bun.build({
    entrypoints: [join(SOURCE, entry)],
    target: "browser",
    minify: true,
    publicPath: "/assets/",
    naming: { entry: "[name]-[hash].[ext]", chunk: "part-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    throw: false,
    ...options,
  });
  if (!result.success) throw new Refusal(`Its sources cannot be built: ${result.logs.join(" ")}`);
  return await Promise.all(
    result.outputs.map(async (output) => ({
      name: basename(output.path),
      content: new Uint8Array(await output.arrayBuffer()),
    })),
  );
}

async function buildStyle(): Promise<BuiltFile[]> {
  const source = await Bun.file(join(SOURCE, "style.css")).text();
  const compiler = await compile(source, { base: SOURCE, onDependency: () => undefined });
  const scanner = new Scanner({
    sources: pageFolders().map((base) => ({ base, pattern: "**/*.{ts,tsx}", negated: false })),
  });
  const { code } = optimize(compiler.build(scanner.scan()), { minify: true });
  const content = Buffer.from(code);
  return [{ name: `style-${Bun.hash(content).toString(36)}.css`, content }];
}

async function write(path: string, content: Uint8Array): Promise<void> {
  const copies = [
    [path, content],
    [`${path}.gz`, gzipSync(content, { level: 9 })],
    [`${path}.br`, brotliCompressSync(content)],
  ] as const;
  for (const [each, bytes] of copies) {
    await Bun.write(each, bytes);
    chmodSync(each, 0o644);
  }
}

/** The theme's script comes before the first paint; the policy of the page allows no script in it. */
function indexPage(names: string[]): string {
  const addressOf = (start: string) => `/assets/${names.find((name) => name.startsWith(`${start}-`))}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pilvi</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath fill='%230b7a75' d='M7 19a5 5 0 0 1-.6-9.96A6.5 6.5 0 0 1 18.9 10.6 4.2 4.2 0 0 1 18.3 19Z'/%3E%3C/svg%3E">
<link rel="stylesheet" href="${addressOf("style")}">
<script src="${addressOf("theme-start")}"></script>
<script type="module" src="${addressOf("main")}"></script>
</head>
<body><div id="console"></div><noscript>The console needs JavaScript. The API is below /api, its documentation at /docs.</noscript></body>
</html>
`;
}

/** Deletes what killed builds have left beside the folder; a build that is under way keeps its files. */
function removeAbandoned(folder: string): void {
  if (!existsSync(dirname(folder))) return;
  for (const name of readdirSync(dirname(folder))) {
    const [, pid] = /^\w+\.(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) {
      rmSync(join(dirname(folder), name), { recursive: true, force: true });
    }
  }
}

if (import.meta.main) {
  const [folder = join(buildsFolder("console"), consoleName())] = process.argv.slice(2);
  setPriority(LOW_PRIORITY);
  try {
    removeAbandoned(folder);
    if (!existsSync(folder)) await buildConsole(folder);
  } catch (error) {
    // The reader shows the first line.
    console.error(messageOf(error));
    process.exitCode = 1;
  }
}
