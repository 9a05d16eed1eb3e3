// The programs that open a session with a cluster, and how each is told where to and as whom. A password goes through the
// environment, since every user of a machine can read the arguments of all programs.
import type { Protocol } from "../session.ts";

/** Where a session leads to and as whom. */
export interface Login {
  hostname: string;
  port: number;
  username: string;
  password: string;
  /** Undefined for a cluster without databases. */
  database: string | undefined;
}

/** How a program is called; a variable that is undefined is taken out of its environment. */
export interface Invocation {
  args: string[];
  env: Record<string, string | undefined>;
}

/** One of the programs. */
export interface DatabaseClient {
  /** The command of Pilvi that opens a session with it. */
  command: string;
  /** What it speaks, as people call it. */
  label: string;
  protocol: Protocol;
  invocation(login: Login): Invocation;
}

const psql: DatabaseClient = {
  command: "psql",
  label: "Postgres",
  protocol: "postgres",
  invocation: ({ hostname, port, username, password, database }) => ({
    args: [],
    env: {
      PGHOST: hostname,
      PGPORT: String(port),
      PGUSER: username,
      PGPASSWORD: password,
      // Every Postgres has this one, which belongs to nobody.
      PGDATABASE: database ?? "postgres",
      // What somebody has set for other servers would lead elsewhere, or ask for what a cluster has not got.
      PGHOSTADDR: undefined,
      PGSERVICE: undefined,
      PGSSLMODE: undefined,
      PGGSSENCMODE: undefined,
      PGCHANNELBINDING: undefined,
      PGREQUIREPEER: undefined,
    },
  }),
};

const mysql: DatabaseClient = {
  command: "mysql",
  label: "MySQL",
  protocol: "mysql",
  invocation: ({ hostname, port, username, password, database }) => ({
    args: [
      // A password in somebody's own configuration would win over that of the environment.
      "--no-defaults",
      "--default-character-set=utf8mb4",
      "--protocol=tcp",
      `--host=${hostname}`,
      `--port=${port}`,
      `--user=${username}`,
      ...(database === undefined ? [] : [`--database=${database}`]),
    ],
    env: { MYSQL_PWD: password },
  }),
};

export const databaseClients: Record<Protocol, DatabaseClient> = { postgres: psql, mysql };

/** The program for a cluster of this protocol. */
export function clientOf(protocol: Protocol): DatabaseClient {
  return databaseClients[protocol];
}
