// The program of a Postgres: how it is recognised, where it comes from, until when its versions are safe.
import type { ForeignProgram } from "../foreign-program.ts";

/** Minor versions of all majors are released on one day: 18.7 with 17.12, as 18.6 with 17.11 and 14.24. */
const CHANGELOGS = "Debian's changelogs of 15.20 and 17.12: CVE-2026-116303 and others";

export const program: ForeignProgram = {
  label: "Postgres",
  names: ["postgres"],
  companion: "initdb",
  version: /^postgres \(PostgreSQL\) (\d+(?:\.\d+)*)/,
  oldestVersion: "14",
  packages: {
    debian: "postgresql",
    fedora: "postgresql-server",
    alpine: "postgresql",
    arch: "postgresql",
  },
  client: {
    names: ["psql"],
    packages: {
      debian: "postgresql-client",
      fedora: "postgresql",
      alpine: "postgresql-client",
      arch: "postgresql",
    },
  },
  floors: [
    { line: "18", lowest: "18.7", supportedUntil: "2030-11-14", source: CHANGELOGS },
    { line: "17", lowest: "17.12", supportedUntil: "2029-11-08", source: CHANGELOGS },
    { line: "16", lowest: "16.16", supportedUntil: "2028-11-09", source: CHANGELOGS },
    { line: "15", lowest: "15.20", supportedUntil: "2027-11-11", source: CHANGELOGS },
    { line: "14", lowest: "14.25", supportedUntil: "2026-11-12", source: CHANGELOGS },
  ],
};
