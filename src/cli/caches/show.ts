// `pilvi caches show`.
import type { Command } from "commander";
import { withJson, withWait, type WaitOptions } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { findCache } from "./find.ts";
import { detailsText } from "./text.ts";
import { waitForAvailable } from "./wait.ts";

interface ShowOptions extends WaitOptions {
  json?: true;
}

/** Adds the command. */
export function addShow(caches: Command, session: Session): void {
  const command = caches
    .command("show")
    .description("show a cache and how to connect to it")
    .argument("<name-or-id>", "an id, or a name that only one cache has");
  withWait(withJson(command), "it can be used").action(async (nameOrId: string, options: ShowOptions) => {
    await show(session, nameOrId, options);
  });
  withExamples(command, [
    "pilvi caches show sessions",
    "pilvi caches show sessions --json | jq .data.attributes.connection",
    "pilvi caches show cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f --wait",
  ]);
}

async function show(session: Session, nameOrId: string, options: ShowOptions): Promise<void> {
  const { io } = session;
  const client = await session.client();
  const found = await findCache(client, nameOrId);
  const { document, failure } =
    options.wait === true
      ? await waitForAvailable(io, client, found, options.timeout)
      : { document: found, failure: undefined };
  io.out(options.json === true ? jsonText(document) : detailsText(document.data));
  if (failure !== undefined) throw failure;
}
