// Makes the first data directory of a Postgres.
import { dirname, join } from "node:path";
import { PublicError } from "../../lib/errors.ts";
import type { Builder, FirstData } from "../engine.ts";
import type { InstalledEngine } from "../installed.ts";
import { ADMIN_NAME } from "./config.ts";

/** The role that a customer logs in as, and the database that a new cluster begins with. */
export const CUSTOMER_NAME = "app";
export const FIRST_DATABASE = "main";

/** From here on a role that may create roles cannot make itself more powerful by it. */
const FIRST_MAJOR_WITH_SAFE_CREATEROLE = 16;

/** A fresh cluster of databases with the customer's role, which cannot log in yet, and its first database. */
export const firstData: FirstData = { mark: "PG_VERSION", recipe: "2", build };

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
  const single = [
    installed.program,
    "--single",
    "-D",
    data,
    "-c",
    "shared_preload_libraries=pg_stat_statements",
  ];
  await builder.run([...single, "template1"], "create extension pg_stat_statements;\n");
  await builder.run([...single, "postgres"], `${firstStatements(installed).join(";\n")};\n`);
}

function firstStatements({ version }: InstalledEngine): string[] {
  const major = Number(version.split(".")[0]);
  if (!Number.isInteger(major)) throw new PublicError(`Postgres ${version} is of no known version.`);
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
