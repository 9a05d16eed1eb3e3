// `GET /websocket-applications/:id/debug` shows what happens in an application; `POST …/debug/events` tries it.
import { recordAudit } from "../../../../api/auth/audit.ts";
import { notFound } from "../../../../api/jsonapi/errors.ts";
import { operation, type Operation } from "../../../../api/operation/operation.ts";
import { DEBUG_EVENTS_PER_SECOND } from "../../../../contracts/realtime-debug.ts";
import type { KindContext } from "../../../kind.ts";
import { STREAM_HEADERS } from "../../../shared/event-stream.ts";
import { applicationParams } from "../../params.ts";
import { urlOf } from "../../render.ts";
import { findWebSocketCluster, type WebSocketClusterRow } from "../../store.ts";
import { findApplication, type ApplicationRow } from "../store.ts";
import { stateOf, type FollowedApplication } from "./feed.ts";
import { publishTestEvent } from "./publish.ts";
import { debugDocument, debugQuery, publishedDocument, testEvent } from "./schema.ts";
import { debugStream } from "./stream.ts";
import { MAX_OF_APPLICATION, Watchers } from "./watchers.ts";

const PATH = "/websocket-applications/:id/debug";

/** Event data is shown and published, which otherwise takes the application's secret. */
const SHARED = {
  tag: "WebSocket Applications",
  ability: "websockets:credentials",
  params: applicationParams,
} as const;

/** All operations to debug an application. */
export function debugOperations(context: KindContext): Operation[] {
  return [watch(context), publish(context)];
}

function watch(context: KindContext): Operation {
  const watchers = new Watchers();
  return operation({
    ...SHARED,
    method: "GET",
    path: PATH,
    operationId: "debugWebsocketApplication",
    summary: "Watch what happens in a WebSocket application",
    description:
      "With `follow`: connections, subscriptions, events with the beginning of their data, refusals and webhooks as they happen, as messages of the type `WebsocketDebugEvent`. Watching wakes nothing: a message of the type `state` says when the cluster sleeps, and when its reports go on. Without `follow`: whether the application can be watched now.",
    query: debugQuery,
    success: {
      status: 200,
      description: "Whether the application can be watched, or a stream of what happens.",
      schema: debugDocument,
      stream: "Messages with a `WebsocketDebugEvent` as `data`.",
    },
    async handle({ principal, params: { id }, query: { follow }, signal, closing }) {
      const { organizationId, familyId } = principal;
      const followed = followedOf(context, await found(context, organizationId, id));
      if (follow === undefined) return { document: documentOf(followed, watchers.count(id)) };
      const { watcher, end } = watchers.add(followed, familyId);
      const signals = [signal, closing];
      const stream = debugStream({ db: context.db, principal, id, watcher, end, signals });
      // A buffering proxy would hold events back.
      return { stream, headers: STREAM_HEADERS };
    },
  });
}

function publish(context: KindContext): Operation {
  return operation({
    ...SHARED,
    method: "POST",
    path: `${PATH}/events`,
    operationId: "publishWebsocketTestEvent",
    summary: "Publish an event in a WebSocket application",
    description:
      "As the application's own server would, with the signing secret of the application. Meant for trying: servers publish at the cluster itself, with a library of the protocol.",
    body: testEvent,
    canConflict: true,
    success: { status: 200, description: "The event was published.", schema: publishedDocument },
    async handle({ principal, params: { id }, body, requestId }) {
      const { application, cluster } = await found(context, principal.organizationId, id);
      const { appId, key, sealedSecret } = application;
      const by = { appId, key, secret: context.vault.open(sealedSecret, id) };
      const url = urlOf("http", cluster, context.hosts.of(cluster.hostId));
      const count = await publishTestEvent(url, by, body);
      // Without the data, which may be personal.
      const details = { channel: body.channel, name: body.name };
      const entry = { principal, requestId, action: "publish", kind: "websocketApplications", id, details };
      await context.db.begin((tx) => recordAudit(tx, entry));
      return { document: { data: { channel: body.channel, name: body.name, subscription_count: count } } };
    },
  });
}

/** @throws ApiError 404 */
async function found(
  { db }: KindContext,
  organizationId: string,
  id: string,
): Promise<{ application: ApplicationRow; cluster: WebSocketClusterRow }> {
  const application = await findApplication(db, organizationId, id);
  if (application === undefined) throw notFound("WebSocket application");
  const cluster = await findWebSocketCluster(db, organizationId, application.clusterId);
  if (cluster === undefined) throw notFound("WebSocket application");
  return { application, cluster };
}

function followedOf(
  { hosts }: KindContext,
  { application: { id }, cluster }: Awaited<ReturnType<typeof found>>,
): FollowedApplication {
  return { id, clusterId: cluster.id, host: hosts.of(cluster.hostId) };
}

function documentOf(followed: FollowedApplication, watchers: number) {
  return {
    data: {
      state: stateOf(followed),
      watchers,
      max_watchers: MAX_OF_APPLICATION,
      events_per_second: DEBUG_EVENTS_PER_SECOND,
    },
  };
}
