// The commands about caches.
import type { Command } from "commander";
import type { PilviClient, RotationOptions } from "../../sdk/index.ts";
import { type Session, withExamples } from "../session.ts";
import { addDelete } from "../shared/delete.ts";
import { addList } from "../shared/list.ts";
import { addMetrics } from "../shared/metrics.ts";
import { addRotate } from "../shared/rotate.ts";
import { addShow } from "../shared/show.ts";
import { addSnapshots } from "../shared/snapshots.ts";
import { addSuspend } from "../shared/suspend.ts";
import { suspendCache } from "./suspend.ts";
import { addTypes } from "../shared/types.ts";
import { addCreate } from "./create.ts";
import { addKeys } from "./keys.ts";
import { cacheKind } from "./kind.ts";
import { addRestores } from "./restore.ts";
import { cacheTypes } from "./types.ts";
import { addUpdate } from "./update.ts";

/** Adds `caches` with its commands. */
export function addCaches(program: Command, session: Session): void {
  const caches = program
    .command("caches")
    .description("create, list, show, change, put to sleep and delete caches");
  addCreate(caches, session);
  addList(caches, session, cacheKind, [
    "pilvi caches list",
    "pilvi caches list --type platform_valkey --status available",
    "pilvi caches list --json | jq -r '.data[].id'",
  ]);
  addShow(caches, session, cacheKind, [
    "pilvi caches show sessions",
    "pilvi caches show sessions --json | jq .data.attributes.connection",
    "pilvi caches show cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f --wait",
  ]);
  addUpdate(caches, session);
  addSuspend(caches, session, cacheKind, suspendCache, [
    "pilvi caches suspend sessions",
    "pilvi caches suspend sessions --json | jq .data.meta.sleep",
  ]);
  addMetrics(caches, session, cacheKind, (client, ...asked) => client.caches.metrics(...asked), [
    "pilvi caches metrics sessions",
    "pilvi caches metrics sessions --period 7d --json | jq .data.cpu_usage",
  ]);
  addKeys(caches, session);
  const rotation = {
    rotate: (client: PilviClient, id: string, options: RotationOptions) =>
      client.caches.rotateCredentials(id, options),
    endGrace: (client: PilviClient, id: string) => client.caches.endGrace(id),
  };
  addRotate(caches, session, cacheKind, rotation, "sessions");
  addDelete(caches, session, cacheKind, [
    "pilvi caches delete sessions",
    "pilvi caches delete sessions --yes --wait",
  ]);
  addSnapshots(caches, session, {
    kind: cacheKind,
    requests: (client) => client.caches.snapshots,
    example: "sessions",
  });
  addRestores(caches, session);
  addTypes(caches, session, cacheTypes);
  withExamples(caches, ["pilvi caches create sessions --wait", "pilvi caches list"]);
}
