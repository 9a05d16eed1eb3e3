// Makes the first data directory of a MariaDB.
import { join } from "node:path";
import type { Builder, FirstData } from "../engine.ts";
import { hostUser } from "../host-user.ts";
import type { InstalledEngine } from "../installed-engine.ts";

export const firstData: FirstData = { mark: "mysql", recipe: "1", build };

/** The administrator has no password: it is the host's own user, which the kernel proves at the socket. */
async function build(installed: InstalledEngine, folder: string, builder: Builder): Promise<void> {
  const base = installed.origin === "store" ? join(installed.home, "usr") : "/usr";
  await builder.run([
    join(base, "bin/mariadb-install-db"),
    "--no-defaults",
    `--basedir=${base}`,
    `--datadir=${join(folder, "data")}`,
    // Relative to the data. In a shared folder it would remove the temporary tables of another build at the same time.
    "--tmpdir=..",
    "--skip-test-db",
    "--auth-root-authentication-method=socket",
    `--auth-root-socket-user=${hostUser("MariaDB")}`,
    "--innodb-log-file-size=32M",
    "--skip-name-resolve",
  ]);
}
