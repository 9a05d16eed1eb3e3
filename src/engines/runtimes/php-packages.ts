// Makes a PHP from the packages of the distribution: php-fpm, the program for commands, extensions, and Composer. Its
// settings name the place at which a sandbox shows it, so that the folder itself can be moved.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { syncFileSystem } from "../../lib/files.ts";
import type { Apt, DebianPackage } from "../install/apt.ts";
import { mustRun } from "../install/run.ts";
import { libraryDirs } from "../install/unpack.ts";
import { withApt } from "../install/with-apt.ts";
import { RUNTIME_PLACE } from "./folder.ts";

/** Extensions beside those that PHP has in any case. */
const EXTENSIONS = [
  "bcmath",
  "curl",
  "gd",
  "intl",
  "mbstring",
  "mysql",
  "pgsql",
  "redis",
  "sqlite3",
  "xml",
  "zip",
];

/** Extensions without which PHP is not taken for complete. */
const EXPECTED = [
  "bcmath",
  "curl",
  "gd",
  "intl",
  "mbstring",
  "pdo_mysql",
  "pdo_pgsql",
  "pdo_sqlite",
  "redis",
  "zip",
];

/** The loader of the C library on each processor. */
const LOADERS = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];

/** Where packages say how an extension is loaded. */
const MODULE_FILES = ["usr/share/php*/*/*.ini", "etc/php/*/mods-available/*.ini"];

/** Releases never change, so compiled code is looked at only as often as files in writable folders need it. */
const SETTINGS = [
  "opcache.memory_consumption = 64",
  "opcache.max_accelerated_files = 16229",
  "opcache.jit = off",
  "realpath_cache_size = 4M",
  "realpath_cache_ttl = 600",
  "variables_order = EGPCS",
  "display_errors = Off",
  "log_errors = On",
  "error_reporting = E_ALL & ~E_DEPRECATED & ~E_STRICT",
  "expose_php = Off",
  "cgi.fix_pathinfo = 0",
  "date.timezone = UTC",
  "session.save_path = /tmp",
  "session.use_strict_mode = 1",
  "session.cookie_httponly = 1",
  "zend.exception_ignore_args = On",
];

/** The C library must fit the system's loader: a second C library beside it makes every program crash. */
const OF_SYSTEM = /^(?:libc6|libc-bin|libperl.*|lib.*-perl)$/;

/** Packages with programs and libraries; the others configure a system. */
const PACKAGES = /^(?:php|lib|composer$|jsonlint$|zlib1g$)/;

/** What the packages have beside programs, libraries and code. */
const USELESS = ["etc", "usr/share/doc", "usr/share/locale", "usr/share/man", "usr/share/X11"];

/** Unpacks the packages into the folder of runtimes, where the caller holds a lock. @returns the folder of PHP. */
export async function unpackPhp(minor: string, folder: string): Promise<string> {
  return await withApt(folder, { isBare: true }, async (apt) => {
    const packages = await packagesOf(minor, apt);
    const home = join(folder, `.php-${minor}.tmp`);
    await rm(home, { recursive: true, force: true });
    await mkdir(home);
    try {
      for (const each of packages)
        await mustRun(["dpkg-deb", "--extract", apt.archiveOf(each), home], folder);
      await arrange(minor, home);
      const version = await checkedVersion(minor, home);
      const place = join(folder, `php-${version}`);
      await rm(place, { recursive: true, force: true });
      await syncFileSystem(home);
      await rename(home, place);
      return place;
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
}

async function packagesOf(minor: string, apt: Apt): Promise<DebianPackage[]> {
  const names = ["cli", "fpm", "opcache", ...EXTENSIONS].map((name) => `php${minor}-${name}`);
  const resolved = await apt.resolve([...names, "composer"]);
  const packages = resolved.filter(({ name }) => PACKAGES.test(name) && !OF_SYSTEM.test(name));
  await apt.download(packages);
  return packages;
}

async function arrange(minor: string, home: string): Promise<void> {
  const settings = await settingsOf(home);
  for (const each of USELESS) await rm(join(home, each), { recursive: true, force: true });
  for (const each of ["bin", "etc"]) await mkdir(join(home, each));
  await writeFile(join(home, "etc/php.ini"), settings);
  const libraries = (await libraryDirs(home)).map((each) => `${RUNTIME_PLACE}/${each}`).join(":");
  const ini = `-c ${RUNTIME_PLACE}/etc/php.ini`;
  const start = (name: string, program: string, options: string) =>
    writeProgram(
      home,
      name,
      `exec ${loader()} --inhibit-cache --argv0 ${RUNTIME_PLACE}/bin/${name} --library-path ${libraries} ${RUNTIME_PLACE}/${program} ${options} "$@"`,
    );
  // A command has the memory of its sandbox; a request has the bound of php-fpm's settings.
  await start(
    "php",
    `usr/bin/php${minor}`,
    `${ini} -d memory_limit=-1 -d display_errors=stderr -d log_errors=0`,
  );
  await start("php-fpm", `usr/sbin/php-fpm${minor}`, ini);
  await symlink("php", join(home, `bin/php${minor}`));
  const composer = `${RUNTIME_PLACE}/usr/bin/composer`;
  await writeProgram(home, "composer", `exec ${RUNTIME_PLACE}/bin/php ${composer} "$@"`);
  await mustRun(["chmod", "-R", "u+rwX,go+rX,go-w,a-s", home], home);
}

async function writeProgram(home: string, name: string, line: string): Promise<void> {
  await writeFile(join(home, "bin", name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
}

/** The system's own loader; the folders are its option, so that no program that PHP starts inherits them. */
function loader(): string {
  const found = LOADERS.find((path) => existsSync(path));
  if (found === undefined) throw new Error("this system has no loader that Pilvi knows");
  return found;
}

/** The settings of all programs, with each extension in the order that its package wants. */
async function settingsOf(home: string): Promise<string> {
  const modules: { priority: number; line: string }[] = [];
  const paths = MODULE_FILES.flatMap((pattern) => Array.from(new Bun.Glob(pattern).scanSync(home)));
  for (const path of paths) {
    const text = await readFile(join(home, path), "utf8");
    const priority = Number(/^; priority=(\d+)/m.exec(text)?.[1] ?? "20");
    const line = /^(?:zend_)?extension=\S+/m.exec(text)?.[0];
    if (line !== undefined) modules.push({ priority, line });
  }
  modules.sort((a, b) => a.priority - b.priority || (a.line < b.line ? -1 : 1));
  const [folder] = await readdir(join(home, "usr/lib/php")).then((all) =>
    all.filter((each) => /^\d{8}$/.test(each)),
  );
  if (folder === undefined) throw new Error("its packages have no extensions");
  return [
    `extension_dir = "${RUNTIME_PLACE}/usr/lib/php/${folder}"`,
    ...modules.map(({ line }) => line),
    ...SETTINGS,
    "",
  ].join("\n");
}

/** Proves that PHP runs on this machine with its extensions, before anything can find it. @returns its version. */
async function checkedVersion(minor: string, home: string): Promise<string> {
  const libraries = (await libraryDirs(home)).map((each) => join(home, each)).join(":");
  const words = [loader(), "--inhibit-cache", "--library-path", libraries, join(home, `usr/bin/php${minor}`)];
  const ini = join(home, "check.ini");
  const settings = await readFile(join(home, "etc/php.ini"), "utf8");
  await writeFile(ini, settings.replaceAll(RUNTIME_PLACE, home));
  const code = "echo PHP_VERSION, ' ', implode(' ', get_loaded_extensions());";
  const { stdout, stderr, success } = Bun.spawnSync([...words, "-c", ini, "-r", code], { env: {} });
  const composer = Bun.spawnSync([...words, "-c", ini, join(home, "usr/bin/composer"), "--version"], {
    env: { HOME: home, COMPOSER_ALLOW_SUPERUSER: "1" },
  });
  await rm(ini);
  const [version, ...extensions] = stdout.toString().split(" ");
  const missing = EXPECTED.filter((name) => !extensions.includes(name));
  if (!success || version === undefined || !/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(`it does not run on this system: ${stderr.toString().split("\n", 1)[0] ?? ""}`);
  if (missing.length > 0) throw new Error(`it lacks the extensions ${missing.join(", ")}`);
  if (!composer.success) throw new Error("its Composer does not run on this system");
  return version;
}
