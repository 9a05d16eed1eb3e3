// `pilvi caches restore`, `clone` and `purge`.
import type { Command } from "commander";
import { nameArgument, withJson, withWait, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { finishCreate } from "../shared/create.ts";
import { addPurge } from "../shared/purge.ts";
import { sourceIdOf } from "../shared/source.ts";
import { cacheKind } from "./kind.ts";

interface CopyOptions extends WaitOptions {
  name: string;
  json?: true;
}

const CACHE = nameArgument(cacheKind.noun);
const NEW_NAME = "of the new cache; need not be unique";

/** Adds the commands. */
export function addRestores(caches: Command, session: Session): void {
  addRestore(caches, session);
  addClone(caches, session);
  addPurge(caches, session, cacheKind, (client, id) => client.caches.purge(id), "sessions");
}

function addRestore(caches: Command, session: Session): void {
  const command = caches
    .command("restore")
    .description("restore a snapshot to a new cache; the source stays")
    .argument("<name-or-id>", CACHE)
    .requiredOption("--name <name>", NEW_NAME)
    .requiredOption("--snapshot <id>", "the snapshot, as `snapshots list` shows it");
  withWait(withJson(command), "it can be used").action(
    async (nameOrId: string, options: CopyOptions & { snapshot: string }) => {
      const client = await session.client();
      const { name, snapshot } = options;
      const id = await sourceIdOf(cacheKind, client, nameOrId);
      const created = await client.caches.restore(id, { name, cache_snapshot_id: snapshot });
      await finishCreate(session, cacheKind, client, created, options);
    },
  );
  withExamples(command, [
    "pilvi caches restore sessions --name sessions-before --snapshot snapshot-0199f0a2-…",
  ]);
}

function addClone(caches: Command, session: Session): void {
  const command = caches
    .command("clone")
    .description("make a new cache with the keys of a cache; a sleeping one is not woken")
    .argument("<name-or-id>", CACHE)
    .requiredOption("--name <name>", NEW_NAME);
  withWait(withJson(command), "it can be used").action(async (nameOrId: string, options: CopyOptions) => {
    const client = await session.client();
    const { name } = options;
    const created = await client.caches.clone(await sourceIdOf(cacheKind, client, nameOrId), { name });
    await finishCreate(session, cacheKind, client, created, options);
  });
  withExamples(command, ["pilvi caches clone sessions --name sessions-preview --wait"]);
}
