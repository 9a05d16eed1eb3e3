// The commands about WebSocket clusters.
import type { Command } from "commander";
import { type Session, withExamples } from "../session.ts";
import { addDelete } from "../shared/delete.ts";
import { addList } from "../shared/list.ts";
import { addMetrics } from "../shared/metrics.ts";
import { addShow } from "../shared/show.ts";
import { addApps } from "./apps.ts";
import { addCreate } from "./create.ts";
import { clusterKind } from "./kind.ts";
import { addDebug } from "./debug.ts";
import { addListen } from "./listen.ts";
import { addPublish } from "./publish.ts";
import { addUpdate } from "./update.ts";

/** Adds `websockets` with its commands. */
export function addWebsockets(program: Command, session: Session): void {
  const websockets = program
    .command("websockets")
    .description("create, list, show, change and delete WebSocket clusters, and try their channels");
  addCreate(websockets, session);
  addList(websockets, session, clusterKind, [
    "pilvi websockets list",
    "pilvi websockets list --status available --region eu-central-1",
    "pilvi websockets list --json | jq -r '.data[].meta.url'",
  ]);
  addShow(websockets, session, clusterKind, [
    "pilvi websockets show chat",
    "pilvi websockets show chat --json | jq .data.meta.url",
    "pilvi websockets show ws-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f --wait",
  ]);
  addUpdate(websockets, session);
  addMetrics(websockets, session, clusterKind, (client, ...asked) => client.websockets.metrics(...asked), [
    "pilvi websockets metrics chat",
    "pilvi websockets metrics chat --period 24h --step 1m --json | jq .data.messages",
  ]);
  addDelete(websockets, session, clusterKind, [
    "pilvi websockets delete chat",
    "pilvi websockets delete chat --yes --wait",
  ]);
  addApps(websockets, session);
  addListen(websockets, session);
  addPublish(websockets, session);
  addDebug(websockets, session);
  withExamples(websockets, ["pilvi websockets create chat --wait", "pilvi websockets listen chat news"]);
}
