// Makes the first data directory of a Postgres.
import { dirname, join } from "node:path";
import { majorOf } from "./major-version.ts";
import type { Builder, FirstData } from "../engine.ts";
import type { InstalledEngine } from "../installed-engine.ts";
import { ADMIN_NAME } from "./config.ts";
import { SEGMENT_BYTES } from "./control-file.ts";

/** The role of a customer, and the first database of a new cluster. */
export const CUSTOMER_NAME = "app";
export const FIRST_DATABASE = "main";

/** From this version on, a role that may create roles cannot make itself more powerful by it. */
const FIRST_MAJOR_WITH_SAFE_CREATEROLE = 16;

/** From this version on, a database's owner owns its schema `public`, and no other role may create anything there. */
const FIRST_MAJOR_WITH_OWNED_PUBLIC = 15;

/** A fresh cluster with the customer's role, which cannot log in yet, and its first database. */
export const firstData: FirstData = { mark: "PG_VERSION", recipe: "3", build };

/**
 * Builds a data directory that accepts no login: only the kernel can prove the administrator, and the customer's role
 * has no login.
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
    `--wal-segsize=${SEGMENT_BYTES / 1024 ** 2}`,
  ]);
  const runIn = async (database: string, statements: string[]) =>
    await builder.run([...singleUser(installed, data), database], `${statements.join(";\n")};\n`);
  const major = majorOf(installed);
  const changes = major < FIRST_MAJOR_WITH_OWNED_PUBLIC ? [...OWNED_PUBLIC, STATISTICS] : [STATISTICS];
  // A restore that creates its database uses the first of these templates, every other creation the second.
  for (const template of ["template0", "template1"]) await runIn(template, changes);
  await runIn("postgres", firstStatements(major));
}

/** The engine in single-user mode, where `-O` allows changes to the schema of the system. */
function singleUser({ program }: InstalledEngine, data: string): string[] {
  return [program, "--single", "-O", "-D", data, "-c", "shared_preload_libraries=pg_stat_statements"];
}

/**
 * No customer can create this extension, so it must survive all that a customer drops before a restore. It is not in
 * `public`, and objects that were made without a server count as the engine's own, which dumps leave out.
 */
const STATISTICS = "create extension pg_stat_statements schema pg_catalog";

/**
 * Gives `public` the owner that it has in newer versions. Otherwise a dump by a newer `pg_dump` gives `public` to the
 * administrator, which a customer may not do in a restore. The last statement makes an old `pg_dump` take the change
 * for the original state.
 */
const OWNED_PUBLIC = [
  "alter schema public owner to pg_database_owner",
  "revoke create on schema public from public",
  "update pg_init_privs set initprivs = nspacl from pg_namespace n where objoid = n.oid and nspname = 'public' and classoid = 'pg_namespace'::regclass",
];

function firstStatements(major: number): string[] {
  const attributes = major >= FIRST_MAJOR_WITH_SAFE_CREATEROLE ? "createdb createrole" : "createdb";
  return [
    // The host's statements hold password verifiers, and a customer may read the collected statements.
    `alter role ${ADMIN_NAME} set pg_stat_statements.track = 'none'`,
    // The host logs into this database, so no other role may create objects there; before version 15 every role may.
    "revoke create on schema public from public",
    `create role ${CUSTOMER_NAME} nologin ${attributes}`,
    `grant pg_monitor, pg_signal_backend to ${CUSTOMER_NAME}`,
    `create database ${FIRST_DATABASE} owner ${CUSTOMER_NAME}`,
  ];
}
