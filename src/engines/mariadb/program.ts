// The program of a MariaDB: how it is recognised, where it comes from, until when its versions are safe.
import type { ForeignProgram } from "../foreign-program.ts";

/** A MySQL has a `mysqld` as well, whose version does not say MariaDB; Pilvi runs no MySQL. */
export const program: ForeignProgram = {
  label: "MariaDB",
  names: ["mariadbd", "mysqld"],
  version: /Ver (\d+(?:\.\d+)+)-MariaDB/,
  oldestVersion: "10.6",
  packages: {
    debian: "mariadb-server",
    fedora: "mariadb-server",
    alpine: "mariadb",
    arch: "mariadb",
  },
  debian: {
    // `mariadb-install-db` of the server package needs `my_print_defaults` of the client package.
    packages: ["mariadb-server-core", "mariadb-client-core", "mariadb-backup"],
    program: "usr/sbin/mariadbd",
    tools: ["usr/bin/mariadb"],
    files: ["usr/bin/mariadb-backup", "usr/bin/mbstream"],
  },
  client: {
    names: ["mariadb", "mysql"],
    stored: "usr/bin/mariadb",
    packages: {
      debian: "mariadb-client",
      fedora: "mariadb",
      alpine: "mariadb-client",
      arch: "mariadb-clients",
    },
  },
  floors: [
    {
      line: "11.8",
      lowest: "11.8.6",
      packages: { trixie: "1:11.8.6-0+deb13u1" },
      supportedUntil: "2028-06-04",
      source: "Debian's changelog of 11.8.6: CVE-2026-21968",
    },
    {
      line: "10.11",
      lowest: "10.11.19",
      packages: { bookworm: "1:10.11.19-0+deb12u1" },
      supportedUntil: "2028-02-16",
      source: "Debian's changelog of 10.11.19: CVE-2026-61081 and others",
    },
    {
      line: "10.6",
      lowest: null,
      supportedUntil: "2026-07-06",
      source: "upstream's list of releases",
    },
  ],
};
