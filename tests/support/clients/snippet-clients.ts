// The clients that snippets of the console are written for, installed once beside the engines from their registries.
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { mustRun } from "../../../src/engines/install/run.ts";
import { PROGRAMS_HOME } from "./programs.ts";

/** Change it with anything below, so that the clients are installed anew. */
const EDITION = "1";
const HOME = join(dirname(PROGRAMS_HOME), `test-snippet-clients-${EDITION}`);

/** Packages of npm; those of the repository's own tests have the same versions there. */
const NPM_PACKAGES = [
  "pg@8.23.1",
  "mysql2@3.24.5",
  "ioredis@5.8.2",
  "redis@5.9.0",
  "pusher@5.3.4",
  "pusher-js@8.6.0",
  "laravel-echo@2.5.0",
  "drizzle-orm@0.44.7",
  "prisma@7.10.1",
  "@prisma/client@7.10.0",
  "@prisma/adapter-pg@7.10.1",
  "@prisma/adapter-mariadb@7.10.0",
];

const PIP_PACKAGES = ["psycopg[binary]==3.3.9", "PyMySQL==1.2.4", "redis==8.1.0", "pusher==3.3.4"];

/** The engines that Prisma makes a client for, by its own names. */
const PRISMA_PROVIDERS = ["postgresql", "mysql"];

/** Where the clients are. */
export interface SnippetClients {
  /** A folder with `node_modules`, and `prisma-PROVIDER/client.ts` with a client of Prisma. */
  node: string;
  /** Python with the packages. */
  python: string;
}

/**
 * Installs the clients when they are not there yet, which takes about a minute.
 * @throws Error with the last output of the package manager when a registry cannot be reached, or a program is missing.
 */
export async function snippetClients(): Promise<SnippetClients> {
  if (!existsSync(HOME)) await install();
  return { node: join(HOME, "node"), python: join(HOME, "python/bin/python") };
}

async function install(): Promise<void> {
  const python = Bun.which("python3");
  if (python === null)
    throw new Error("The snippets for Python are tested with python3, which is missing here.");
  // Two test files may begin at the same time. The first to end gives its folder the name.
  const unfinished = `${HOME}.${process.pid}.tmp`;
  try {
    await mkdir(join(unfinished, "node"), { recursive: true });
    await Promise.all([
      installNode(join(unfinished, "node")),
      installPython(python, join(unfinished, "python")),
    ]);
    if (!existsSync(HOME)) await rename(unfinished, HOME);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function installNode(folder: string): Promise<void> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await mustRun(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", ...NPM_PACKAGES], folder);
  for (const provider of PRISMA_PROVIDERS) await generatePrisma(folder, provider);
}

/** Makes a client of Prisma, for which no database is needed. */
async function generatePrisma(folder: string, provider: string): Promise<void> {
  const schema = join(folder, `${provider}.prisma`);
  const generator = `generator client {\n  provider = "prisma-client"\n  output = "./prisma-${provider}"\n}\n`;
  await writeFile(schema, `${generator}datasource db {\n  provider = "${provider}"\n}\n`);
  // A program that generating never runs, and that Prisma would fetch from a host of its own.
  const env = ["env", "PRISMA_SCHEMA_ENGINE_BINARY=/bin/true"];
  await mustRun([...env, join(folder, "node_modules/.bin/prisma"), "generate", `--schema=${schema}`], folder);
}

async function installPython(python: string, folder: string): Promise<void> {
  // The environment may be moved, since its Python finds its packages beside itself; its scripts could not.
  await mustRun([python, "-m", "venv", folder], dirname(folder));
  await mustRun(
    [join(folder, "bin/python"), "-m", "pip", "install", "--quiet", ...PIP_PACKAGES],
    dirname(folder),
  );
}
