// `pilvi databases update`.
import type { Command } from "commander";
import { nameArgument, withJson, withWait, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { finishUpdate, requireChange } from "../shared/update.ts";
import { configOf, type ConfigOptions, requireKnownMembers, withConfig } from "./config.ts";
import { clusterKind } from "./kind.ts";

interface UpdateOptions extends WaitOptions, ConfigOptions {
  json?: true;
}

/** Adds the command. */
export function addUpdate(databases: Command, session: Session): void {
  const command = databases
    .command("update")
    .description("change a database cluster; another size starts its engine anew and ends its connections")
    .argument("<name-or-id>", nameArgument(clusterKind.noun));
  withWait(withJson(withConfig(command)), "the change is in force").action(
    async (nameOrId: string, options: UpdateOptions) => {
      const config = configOf(options);
      requireChange(command, { config });
      const client = await session.client();
      const { data } = await find(clusterKind, client, nameOrId);
      await requireKnownMembers(client, data.attributes.type, options);
      await client.databases.update(data.id, { config: config ?? {} });
      await finishUpdate(session, clusterKind, client, data.id, options);
    },
  );
  withExamples(command, [
    "pilvi databases update orders --cu-max 2 --wait",
    "pilvi databases update orders --suspend-seconds 60",
    "pilvi databases update shop --size mysql-flex-1gb --config retention_days=7",
  ]);
}
