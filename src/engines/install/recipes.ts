// What has to be known of each engine to install it: packages, the program in them, the oldest version that will do.
import type { EngineName } from "../../drivers/driver.ts";
import { compareVersions } from "../program-version.ts";
import type { InstalledEngine } from "../installed.ts";

/** How an engine comes out of Debian packages. */
export interface DebianRecipe {
  name: EngineName;
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

/** Older ones lack what Pilvi relies on, such as access lists with hashed passwords, or get no fixes any more. */
const OLDEST_VERSIONS: Record<EngineName, string> = {
  valkey: "7.2",
  redis: "6.2",
  postgres: "14",
  mysql: "8.0",
  mariadb: "10.6",
};

/** Whether Pilvi can run instances with the engine. */
export function isGoodEnough(engine: InstalledEngine): boolean {
  return compareVersions(engine.version, OLDEST_VERSIONS[engine.name]) >= 0;
}
