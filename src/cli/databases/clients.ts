// The programs that open a session with a cluster, and how each gets address and login. A password goes through the
// environment, since every user of a machine can read the arguments of all programs.
import type { Protocol } from "../session.ts";

/** The address and the login of a session. */
export interface Login {
  hostname: string;
  port: number;
  username: string;
  password: string;
  /** Undefined for a cluster without databases. */
  database: string | undefined;
}

/** How a program is started; a variable that is undefined is removed from its environment. */
interface Invocation {
  args: string[];
  env: Record<string, string | undefined>;
}

/** A program that opens sessions with one protocol. */
export interface DatabaseClient {
  /** The command of Pilvi that opens a session with this program. */
  command: string;
  /** The protocol as people call it. */
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
      // Every Postgres has this database, which belongs to no customer.
      PGDATABASE: database ?? "postgres",
      // Settings for other servers would lead elsewhere, or ask for features that a cluster lacks.
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
      // A password in the user's own configuration would take precedence over the environment.
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
