// Finds the OpenSSL that the gateway speaks TLS with.
import { existsSync } from "node:fs";
import { openSsl } from "../../gateway/tls/index.ts";

/** Version 3 of OpenSSL, as systems and packages call its file. */
const LIBRARY = "libssl.so.3";

/**
 * The libssl to load: the system's, or else the library that came with an engine out of the distribution's packages.
 * @param ofSystem the name of the system's library.
 * @returns a name for the system's loader, or a path in whose folder libcrypto is too; null when no library loads.
 */
export function findLibssl(enginesDir: string, ofSystem = LIBRARY): string | null {
  return [ofSystem, ...librariesIn(enginesDir)].find(canLoad) ?? null;
}

function librariesIn(enginesDir: string): string[] {
  if (!existsSync(enginesDir)) return [];
  const pattern = new Bun.Glob(`*/usr/lib/*-linux-gnu/${LIBRARY}`);
  return Array.from(pattern.scanSync({ cwd: enginesDir, absolute: true })).sort();
}

/** Whether the loader takes the library; it refuses a library without its libcrypto or for another machine. */
function canLoad(library: string): boolean {
  try {
    openSsl(library);
    return true;
  } catch {
    return false;
  }
}
