// The engines that keep a log of their changes: a cluster of each, a session with it, and the steps that its log takes.
import { SQL } from "bun";
import { join } from "node:path";
import type { MysqlSpec, PostgresSpec } from "../../src/contracts/instance-spec.ts";
import { newId } from "../../src/lib/ids.ts";
import { nativeVerifier, scramVerifier } from "../../src/lib/verifiers.ts";
import { freePort } from "../support/pilvi/ports.ts";

export type LoggedEngine = "mariadb" | "postgres";
export type LoggedSpec = MysqlSpec | PostgresSpec;

const LOGIN = { username: "app", password: "moi", database: "main", max: 1 };

const common = {
  sleepAfterSeconds: null,
  version: null,
  memoryBytes: 256 * 1024 ** 2,
  cpus: null,
  maxConnections: 20,
  databases: [{ name: "main", owner: "app", desiredState: "present" as const }],
};

interface Logged {
  /** The steps of a pass that ships, and of a restore that replays what was shipped. */
  places: { shipping: string[]; replay: string[] };
  /** Creates the table `written`, whose rows take as many bytes in the log as they have. */
  table: string[];
  newSpec(): LoggedSpec;
  /** @param folder that of the instance. */
  connect(spec: LoggedSpec, folder: string): SQL;
}

export const LOGGED: Record<LoggedEngine, Logged> = {
  mariadb: {
    places: {
      shipping: ["keeper.log.piece", "keeper.log.watermark", "keeper.log.segment", "keeper.log.closed"],
      replay: ["host.replay.cut", "host.replay.applied"],
    },
    table: ["create table written (n int primary key auto_increment, pad longtext)"],
    newSpec: () => ({
      kind: "mysql",
      id: newId("db"),
      engines: ["mariadb"],
      users: [{ name: "app", verifier: nativeVerifier("moi") }],
      exposure: { port: freePort(), scope: "loopback", through: "engine" },
      ...common,
    }),
    connect: ({ exposure }) =>
      new SQL({
        adapter: "mysql",
        hostname: "127.0.0.1",
        port: exposure.port ?? 0,
        connectionTimeout: 5,
        ...LOGIN,
      }),
  },
  postgres: {
    places: {
      shipping: ["keeper.log.piece", "keeper.log.watermark", "keeper.log.segment"],
      replay: ["host.restore.logged", "host.restore.recovered"],
    },
    table: [
      "create table written (n int primary key generated always as identity, pad text)",
      // Compressed, long texts would hardly fill a segment.
      "alter table written alter pad set storage external",
    ],
    newSpec() {
      const id = newId("db");
      return {
        kind: "postgres",
        id,
        engines: ["postgres"],
        users: [{ name: "app", verifier: scramVerifier("moi", id) }],
        exposure: { port: freePort(), scope: "loopback", through: "gateway" },
        ...common,
      };
    },
    connect: ({ exposure }, folder) =>
      new SQL({
        adapter: "postgres",
        path: join(folder, "run", `.s.PGSQL.${exposure.port}`),
        connectionTimeout: 5,
        ...LOGIN,
      }),
  },
};
