// What has to be known of each engine to install it: packages, and the program in them.
import type { ForeignEngine } from "../../drivers/driver.ts";

/** How an engine comes out of Debian packages. */
export interface DebianRecipe {
  name: ForeignEngine;
  /** What is asked for; their dependencies come along. */
  packages: string[];
  /** The server program inside the unpacked packages. */
  program: string;
}

/** The binaries of Valkey and Redis are in the tools package, which their server package depends on. */
export const DEBIAN_RECIPES: DebianRecipe[] = [
  { name: "valkey", packages: ["valkey-server"], program: "usr/bin/valkey-server" },
  { name: "redis", packages: ["redis-server"], program: "usr/bin/redis-server" },
  {
    name: "mariadb",
    // `mariadb-install-db` of the server package needs `my_print_defaults` of the client package.
    packages: ["mariadb-server-core", "mariadb-client-core"],
    program: "usr/sbin/mariadbd",
  },
];
