// The tests of backups with the versions of Postgres that `npm test` leaves out.
import { VERSIONS_SETTING } from "../support/engines/postgres-cluster.ts";

const FILES = ["hot", "instants.full", "kept-log.full", "verify.full"];

process.env[VERSIONS_SETTING] = "inner";
for (const file of FILES) await import(`../../src/engines/postgres/backup/${file}.test.ts`);
