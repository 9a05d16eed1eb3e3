// The public exports of the client.
export type { SessionResource, UserResource } from "../resources/accounts/schema.ts";
export type { ActivityResource } from "../resources/activity/schema.ts";
export type { CacheMetrics, CacheResource, CacheStatus } from "../resources/caches/schema.ts";
export type {
  DatabaseClusterResource,
  DatabaseClusterStatus,
  DatabaseMetrics,
  DatabaseResource,
  DatabaseStatus,
} from "../resources/databases/schema.ts";
export type { EventResource, EventResourceType, EventType } from "../resources/shared/event-schema.ts";
export type {
  InvitationResource,
  MemberResource,
  OwnOrganizationResource,
} from "../resources/members/schema.ts";
export type { PasskeyResource } from "../resources/accounts/schema.ts";
export type { AbilityResource, TokenResource } from "../resources/tokens/schema.ts";
export type { UsageAmounts, UsageDayDocument, UsageResource } from "../resources/shared/usage-schema.ts";
export type { InstanceMetricPeriod } from "../resources/shared/metrics-schema.ts";
export type { OrganizationResource } from "../resources/shared/organization-schema.ts";
export type {
  ApplicationResource as WebsocketApplicationResource,
  WebSocketClusterResource as WebsocketServerResource,
  MetricPeriod,
  WebSocketClusterStatus as WebsocketServerStatus,
  WebsocketMetrics,
} from "../resources/websockets/schema.ts";
export type {
  CacheChange,
  CacheDocument,
  CacheFilter,
  CachePage,
  CacheTypeList,
  NewCache,
} from "./caches.ts";
export { PilviClient } from "./client.ts";
export type { ConnectionOptions, Pause } from "./connection.ts";
export type {
  DatabaseClusterChange,
  DatabaseClusterDocument,
  DatabaseClusterFilter,
  DatabaseClusterPage,
  DatabaseTypeList,
  NewDatabaseCluster,
  DatabaseDocument,
  DatabasePage,
} from "./databases.ts";
export type { Identifier, PageDocument, SingleDocument } from "./documents.ts";
export type { EventFilter, EventPage } from "./events.ts";
export type { InvitationDocument, MemberDocument, OwnOrganizationDocument, Role } from "./members.ts";
export type { PasskeyOptions } from "./passkeys.ts";
export type { NewToken, TokenDocument, TokenPage } from "./tokens.ts";
export type { OrganizationDocument } from "./organization.ts";
export type { Redemption, SessionDocument } from "./sessions.ts";
export type { UserDocument } from "./users.ts";
export { PilviError, PilviUnreachable } from "./errors.ts";
export type {
  NewWebsocketApplication,
  NewWebSocketCluster,
  WebsocketApplicationChange,
  WebsocketApplicationDocument,
  WebsocketApplicationPage,
  WebsocketApplications,
  WebsocketSecretRotation,
  WebSocketClusterChange,
  WebSocketClusterDocument,
  WebSocketClusterFilter,
  WebSocketClusterPage,
} from "./websockets.ts";
export type { UsageFilter, UsagePage } from "./usage.ts";
export type { ActivityFilter, ActivityPage } from "./activity.ts";
