// `pilvi databases create`.
import type { Command } from "commander";
import type { NewDatabaseCluster } from "../../sdk/index.ts";
import { withJson, withWait, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { finishCreate } from "../shared/create.ts";
import { configOf, type ConfigOptions, requireKnownMembers, withConfig } from "./config.ts";
import { clusterKind } from "./kind.ts";

interface CreateOptions extends WaitOptions, ConfigOptions {
  type: string;
  version?: string;
  region: string;
  /** Without the option `--no-default-database` this is true. */
  defaultDatabase: boolean;
  json?: true;
}

/** Adds the command. */
export function addCreate(databases: Command, session: Session): void {
  const command = databases
    .command("create")
    .description("create a database cluster")
    .argument("<name>", "2 to 40 lowercase letters, digits, underscores and hyphens; need not be unique")
    .option("--type <type>", "what to order; `pilvi databases types` lists all", "hosted_serverless_postgres")
    .option("--version <version>", "of the engine, such as 17 (default: the newest that is installed)")
    .option("--region <region>", "a label; one machine serves all regions", "us-east-1")
    .option("--no-default-database", "begin without the database main; serverless always has it");
  withWait(withJson(withConfig(command)), "it can be used").action(
    async (name: string, options: CreateOptions) => {
      const client = await session.client();
      await requireKnownMembers(client, options.type, options);
      const created = await client.databases.create(bodyOf(name, options));
      await finishCreate(session, clusterKind, client, created, options);
    },
  );
  withExamples(command, [
    "pilvi databases create orders --wait",
    "pilvi databases create orders --version 17 --cu-min 0.5 --cu-max 2",
    "pilvi databases create shop --type platform_mysql --size mysql-flex-1gb --config retention_days=7",
    "pilvi databases create orders --wait --json | jq -r .data.id",
  ]);
}

function bodyOf(name: string, options: CreateOptions): NewDatabaseCluster {
  const body = {
    name,
    type: options.type,
    version: options.version,
    region: options.region,
    config: configOf(options),
    create_default_database: options.defaultDatabase ? undefined : false,
  };
  // The server checks field by field; a second list of allowed values here would only get out of date.
  return body as NewDatabaseCluster;
}
