// `pilvi databases refresh`.
import type { Command } from "commander";
import { CommandError } from "../failure.ts";
import { instantOf } from "../instant.ts";
import { nameArgument, withJson, withWait, type WaitOptions } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { nameOf } from "../shared/kind.ts";
import { waitUntil } from "../shared/wait.ts";
import { clusterKind } from "./kind.ts";

interface RefreshOptions extends WaitOptions {
  at?: string;
  json?: true;
}

/** Adds the command. */
export function addRefresh(databases: Command, session: Session): void {
  const command = databases
    .command("refresh")
    .description("give a clone the data of its parent again; its own data is deleted")
    .argument("<name-or-id>", nameArgument(clusterKind.noun))
    .option(
      "--at <instant>",
      "the instant: '10 minutes ago', or 2026-03-15T08:00:00Z; now when left out",
      (text: string) => instantOf(text),
    );
  withWait(withJson(command), "it has the data").action(
    async (nameOrId: string, options: RefreshOptions) => await refresh(session, nameOrId, options),
  );
  withExamples(command, [
    "pilvi databases refresh orders-preview --wait",
    "pilvi databases refresh orders-preview --at '1 hour ago'",
  ]);
}

async function refresh(
  session: Session,
  nameOrId: string,
  { at, wait, json, timeout }: RefreshOptions,
): Promise<void> {
  const { io } = session;
  const client = await session.client();
  const { data } = await find(clusterKind, client, nameOrId);
  const begun = await client.databases.refresh(data.id, at === undefined ? {} : { restore_time: at });
  const name = nameOf(clusterKind, data);
  if (wait !== true) {
    io.out(json === true ? jsonText(begun) : `Refreshing ${name} (${data.id}).\n`);
    io.err(`It serves its former data until then. Wait for it with: ${clusterKind.waitAgain?.(data.id)}\n`);
    return;
  }
  const { document, failure } = await waitUntil(session, clusterKind, client, begun, "available", timeout);
  io.out(json === true ? jsonText(document) : clusterKind.details(document));
  if (failure !== undefined) throw failure;
  const { refresh: state } = document.data.meta;
  if (state?.status === "failed")
    throw new CommandError(
      `${name} could not be refreshed and keeps its former data. ${state.last_error ?? ""}`,
    );
}
