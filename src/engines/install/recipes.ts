// What has to be known of each engine to install it: packages, and the program in them.
import type { ForeignEngine } from "../../drivers/driver.ts";

/** How an engine comes out of Debian packages. */
export interface DebianRecipe {
  name: ForeignEngine;
  /** What is asked for; their dependencies come along. */
  packages: string[];
  /** The server program inside the unpacked packages. */
  program: string;
  /** Programs beside it that people may want to use; they are offered in the engine's folder `bin`. */
  tools: string[];
  /**
   * The release of the same distribution that it comes from on an older one, which has none with security support. It comes with
   * the C library of that release, since it would not run with the older one.
   */
  newer?: Release;
}

/** A release of a distribution, as os-release(5) names it. */
export interface Release {
  id: string;
  versionId: number;
  codename: string;
}

const TRIXIE: Release = { id: "debian", versionId: 13, codename: "trixie" };

/** The binaries of Valkey and Redis are in the tools package, which their server package depends on. */
export const DEBIAN_RECIPES: DebianRecipe[] = [
  {
    name: "valkey",
    packages: ["valkey-server", "valkey-tools"],
    program: "usr/bin/valkey-server",
    tools: ["usr/bin/valkey-cli"],
    newer: TRIXIE,
  },
  {
    name: "redis",
    packages: ["redis-server", "redis-tools"],
    program: "usr/bin/redis-server",
    tools: ["usr/bin/redis-cli"],
  },
  {
    name: "mariadb",
    // `mariadb-install-db` of the server package needs `my_print_defaults` of the client package.
    packages: ["mariadb-server-core", "mariadb-client-core"],
    program: "usr/sbin/mariadbd",
    tools: ["usr/bin/mariadb"],
  },
];
