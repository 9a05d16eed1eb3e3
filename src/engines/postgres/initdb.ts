// Makes the first data directory of a Postgres.
import { dirname, join } from "node:path";
import { PublicError } from "../../lib/errors.ts";
import type { Builder, FirstData } from "../engine.ts";
import type { InstalledEngine } from "../installed-engine.ts";
import { ADMIN_NAME } from "./config.ts";

/** The role that a customer logs in as, and the database that a new cluster begins with. */
export const CUSTOMER_NAME = "app";
export const FIRST_DATABASE = "main";

/** From here on a role that may create roles cannot make itself more powerful by it. */
const FIRST_MAJOR_WITH_SAFE_CREATEROLE = 16;

/** From here on a database's owner owns its schema `public`, and nobody else may put anything there. */
const FIRST_MAJOR_WITH_OWNED_PUBLIC = 15;

/** A fresh cluster of databases with the customer's role, which cannot log in yet, and its first database. */
export const firstData: FirstData = { mark: "PG_VERSION", recipe: "3", build };

/**
 * Builds a data directory that nobody can log into: the administrator is known by the kernel only, the customer's role
 * exists without a login.
 */
async function build(installed: InstalledEngine, folder: string, builder: Builder): Promise<void> {
  const data = join(folder, "data");
  await builder.run([
    join(dirname(installed.program), "initdb"),
    `--pgdata=${data}`,
    `--username=${ADMIN_NAME}`,
    "--auth=reject",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--data-checksums",
    "--wal-segsize=4",
  ]);
  const runIn = async (database: string, statements: string[]) =>
    await builder.run([...singleUser(installed, data), database], `${statements.join(";\n")};\n`);
  const major = majorOf(installed);
  const changes = major < FIRST_MAJOR_WITH_OWNED_PUBLIC ? [...OWNED_PUBLIC, STATISTICS] : [STATISTICS];
  // A restore that creates its database takes the first of these templates, all else takes the second.
  for (const template of ["template0", "template1"]) await runIn(template, changes);
  await runIn("postgres", firstStatements(major));
}

/** The engine without a server, where `-O` allows to add to the schema of the system. */
function singleUser({ program }: InstalledEngine, data: string): string[] {
  return [program, "--single", "-O", "-D", data, "-c", "shared_preload_libraries=pg_stat_statements"];
}

function majorOf({ version }: InstalledEngine): number {
  const major = Number(version.split(".")[0]);
  if (!Number.isInteger(major)) throw new PublicError(`Postgres ${version} is of no known version.`);
  return major;
}

/**
 * No customer can create this extension, so it must survive whatever a customer drops before a restore: it is not in `public`,
 * and what is made without a server counts as the engine's own, which dumps leave out.
 */
const STATISTICS = "create extension pg_stat_statements schema pg_catalog";

/**
 * The schema `public` of newer versions. With the old one, a dump by a newer `pg_dump` gives `public` to the administrator,
 * which a customer who restores it may not do. The last statement has an old `pg_dump` take this for the way it always was.
 */
const OWNED_PUBLIC = [
  "alter schema public owner to pg_database_owner",
  "revoke create on schema public from public",
  "update pg_init_privs set initprivs = nspacl from pg_namespace n where objoid = n.oid and nspname = 'public' and classoid = 'pg_namespace'::regclass",
];

function firstStatements(major: number): string[] {
  const attributes = major >= FIRST_MAJOR_WITH_SAFE_CREATEROLE ? "createdb createrole" : "createdb";
  return [
    // What the host says holds verifiers of passwords, and a customer may read what is collected of statements.
    `alter role ${ADMIN_NAME} set pg_stat_statements.track = 'none'`,
    // The host logs into this database, so nobody else may put anything there for it to stumble over; before 15 all may.
    "revoke create on schema public from public",
    `create role ${CUSTOMER_NAME} nologin ${attributes}`,
    `grant pg_monitor, pg_signal_backend to ${CUSTOMER_NAME}`,
    `create database ${FIRST_DATABASE} owner ${CUSTOMER_NAME}`,
  ];
}
