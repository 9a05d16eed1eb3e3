// Builds the package of the typed client, ready for `npm publish`: JavaScript and declarations that stand alone, for
// browsers and Node. It takes the package's folder as its argument, or `dist/sdk`.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { checkoutDir, ensureDependencies, runScript, SetupError } from "./setup.mjs";

const sourceDir = join(checkoutDir, "src", "sdk");
/** What browsers and Node 20 have; code that uses more, such as an API of Bun or Node, does not compile. */
const TARGET = { target: "ES2022", lib: ["ES2023", "DOM", "DOM.AsyncIterable"], types: [] };
/** An import of a schema's types, with their names. */
const SCHEMA_IMPORT = /\{([^{}]*)\} from "\.\.\/(resources\/[\w/-]+)\.ts"/g;

async function main() {
  await ensureDependencies({ withTools: true });
  const [folder = join(checkoutDir, "dist", "sdk")] = process.argv.slice(2);
  const packageDir = resolve(folder);
  const work = mkdtempSync(join(tmpdir(), "pilvi-sdk-"));
  try {
    const sources = readSources();
    const declarations = await declarationsOf(schemaTypesOf(sources));
    writeFiles(work, { ...sources, ...declarations });
    rmSync(packageDir, { recursive: true, force: true });
    compile(work, packageDir);
    writeFiles(packageDir, { ...declarations, "package.json": manifest() });
    for (const path of [join(sourceDir, "README.md"), join(checkoutDir, "LICENSE")])
      cpSync(path, join(packageDir, path.slice(dirname(path).length)));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  console.log(packageDir);
}

/** The client's source by file name. */
function readSources() {
  const names = readdirSync(sourceDir).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(sourceDir, name), "utf8")]));
}

/** The names of the types that the client takes from each schema, by the schema's path without its ending. */
function schemaTypesOf(sources) {
  const types = new Map();
  for (const [, names, path] of Object.values(sources).join("\n").matchAll(SCHEMA_IMPORT)) {
    const known = types.get(path) ?? new Set();
    types.set(path, known);
    for (const item of names.split(",")) {
      const [name] = item.trim().split(" as ");
      if (name !== "") known.add(name);
    }
  }
  return types;
}

/**
 * Declares the types of the schemas as plain types, in which nothing of the schemas' library and of the server is left.
 * The compiler is imported here because the packages may not be installed when this script starts. Its interface is
 * called unstable, and its version is pinned.
 */
async function declarationsOf(schemaTypes) {
  const { API, NodeBuilderFlags } = await import("typescript/unstable/sync");
  const format =
    NodeBuilderFlags.InTypeAlias | NodeBuilderFlags.NoTruncation | NodeBuilderFlags.MultilineObjectLiterals;
  const compiler = new API({ cwd: checkoutDir });
  try {
    const snapshot = compiler.updateSnapshot({ openProjects: [join(checkoutDir, "tsconfig.json")] });
    const { checker, program } = snapshot.getProject(join(checkoutDir, "tsconfig.json"));
    const declared = [...schemaTypes].map(([path, names]) => {
      const schema = checker.getSymbolAtLocation(
        program.getSourceFile(join(checkoutDir, "src", `${path}.ts`)),
      );
      const types = checker.getExportsOfModule(schema).filter(({ name }) => names.has(name));
      const lines = types.map((type) => {
        const text = checker.typeToString(checker.getDeclaredTypeOfSymbol(type), undefined, format);
        return `export type ${type.name} = ${text};\n`;
      });
      return [
        `${path}.d.ts`,
        `// Plain types of the API's documents, made from its schemas.\n${lines.join("")}`,
      ];
    });
    return Object.fromEntries(declared);
  } finally {
    compiler.close();
  }
}

/** @throws SetupError with the faults that the compiler finds. */
function compile(work, outDir) {
  const compilerOptions = {
    ...TARGET,
    module: "NodeNext",
    declaration: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    rootDir: ".",
    outDir,
  };
  writeFileSync(join(work, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
  writeFileSync(join(work, "package.json"), JSON.stringify({ type: "module" }));
  const compiler = join(checkoutDir, "node_modules", ".bin", "tsc");
  const { status, stdout } = spawnSync(compiler, ["--project", work], { encoding: "utf8" });
  if (status !== 0) throw new SetupError(`The client does not compile for browsers and Node:\n${stdout}`);
}

/** The source's manifest is private, so that nobody publishes the source in place of the built package. */
function manifest() {
  const { private: _, ...members } = JSON.parse(readFileSync(join(sourceDir, "package.json"), "utf8"));
  return `${JSON.stringify(members, undefined, 2)}\n`;
}

/** Writes files whose imports name the files that the compiler makes. */
function writeFiles(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replaceAll(/from "\.\.?\/(.+)\.ts"/g, 'from "./$1.js"'));
  }
}

await runScript(main);
