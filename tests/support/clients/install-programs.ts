// Installs programs that tests run as a customer would, when the machine lacks them: from the distribution's signed
// packages, unpacked beside the engines, so that the system stays unchanged. Prints the folder to put on the PATH, if
// there is any.
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../../src/lib/errors.ts";
import { ensureChromium } from "./chromium.ts";
import { ensureLaravel } from "./laravel.ts";
import { PHP_EXTENSIONS, PHP_HOME, phpProgram, PROGRAMS_HOME } from "./programs.ts";
import { ensureSshServer } from "./ssh-server.ts";
import { unpackPackages } from "./unpack-packages.ts";

/** Each program with its package. */
const PACKAGES: Record<string, string> = {
  psql: "postgresql-client",
  pg_dump: "postgresql-client",
  pg_restore: "postgresql-client",
  pgbench: "postgresql",
  mariadb: "mariadb-client",
  "mariadb-dump": "mariadb-client",
  openssl: "openssl",
  ssh: "openssh-client",
  "ssh-keygen": "openssh-client",
  ip: "iproute2",
};

/** Puts the programs into a folder of their own, each behind a script that finds the libraries of its package. */
async function install(programs: string[], packages: string[], home: string): Promise<void> {
  await unpackPackages(packages, home, async (folder) => {
    await mkdir(join(folder, "bin"), { recursive: true });
    for (const program of programs) await writeScript(program, folder, home);
  });
}

async function writeScript(program: string, folder: string, home: string): Promise<void> {
  // The file in a versioned folder is the program itself; the file in usr/bin may be a script that looks for it.
  const places = [`usr/lib/postgresql/*/bin/${program}`, `usr/bin/${program}`, `bin/${program}`];
  const [target] = places.flatMap((place) => Array.from(new Bun.Glob(place).scanSync(folder)));
  if (target === undefined) throw new Error(`the packages do not have ${program}`);
  await writeProgram(join(folder, "bin", program), home, target);
}

async function writeProgram(script: string, home: string, command: string): Promise<void> {
  const libraries = `${home}/usr/lib/$(uname -m)-linux-gnu`;
  await writeFile(script, `#!/bin/sh\nLD_LIBRARY_PATH=${libraries} exec ${join(home, command)} "$@"\n`);
  await chmod(script, 0o755);
}

/** Puts PHP into a folder of its own, behind a script that names the extensions, since there is no configuration. */
async function installPhp(): Promise<void> {
  const packages = ["php-cli", "php-pgsql", "php-mysql", "php-redis"];
  await unpackPackages(packages, PHP_HOME, async (folder) => {
    const find = (pattern: string) => {
      const [found] = new Bun.Glob(pattern).scanSync(folder);
      if (found === undefined) throw new Error(`the packages do not have ${pattern}`);
      return found;
    };
    const extensions = dirname(find("usr/lib/php/*/pdo.so"));
    const options = ["-n", `-d extension_dir=${join(PHP_HOME, extensions)}`];
    options.push(...PHP_EXTENSIONS.map((name) => `-d extension=${name}`));
    await mkdir(join(folder, "bin"));
    await writeProgram(join(folder, "bin/php"), PHP_HOME, [find("usr/bin/php?.?"), ...options].join(" "));
  });
}

const bin = join(PROGRAMS_HOME, "bin");
const missing = Object.keys(PACKAGES).filter((program) => Bun.which(program) === null);
const isInstalled = missing.every((program) => existsSync(join(bin, program)));
if (!isInstalled) {
  await install(missing, [...new Set(missing.map((program) => PACKAGES[program] ?? program))], PROGRAMS_HOME);
}
if (missing.length > 0) process.stdout.write(bin);

// Some distributions have no PHP package; the tests of PHP are left out there.
if (phpProgram() === null) {
  await installPhp().catch((error: unknown) =>
    process.stderr.write(`There is no PHP for the tests: ${messageOf(error)}\n`),
  );
}

await ensureLaravel().catch((error: unknown) =>
  process.stderr.write(`There is no Laravel for the tests: ${messageOf(error)}\n`),
);

// Several tests would fetch them at the same time otherwise.
await ensureChromium();
await ensureSshServer();
