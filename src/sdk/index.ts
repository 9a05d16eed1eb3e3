// The public exports of the client.
export type { SessionResource, UserResource } from "../resources/accounts/schema.ts";
export type { ActivityResource } from "../resources/activity/schema.ts";
export type {
  ApplicationChange,
  ApplicationResource,
  CommandOutput,
  CommandResource,
  CommandStatus,
  BackgroundProcessChange,
  BackgroundProcessResource,
  DeploymentLog,
  DeploymentResource,
  DeploymentStatus,
  EnvironmentChange,
  EnvironmentResource,
  EnvironmentStatus,
  EnvironmentVariable,
  InstanceChange,
  InstanceResource,
  InstanceSizeList,
  NewBackgroundProcess,
  NewCommand,
  NewInstance,
  PlanResource,
} from "../resources/applications/schema.ts";
export type { ApplicationDocument, ApplicationPage, NewApplication } from "./applications.ts";
export type { CommandDocument, CommandPage, Commands } from "./commands.ts";
export type { DeploymentDocument, DeploymentPage, Deployments } from "./deployments.ts";
export type { EnvironmentDocument, EnvironmentPage, Environments } from "./environments.ts";
export type { BackgroundProcesses, Instances } from "./instances.ts";
export type { NewUpload, PlanDocument } from "./uploads.ts";
export type {
  CacheChange,
  CacheMetrics,
  CacheResource,
  CacheStatus,
  CacheTypeList,
} from "../resources/caches/schema.ts";
export type {
  KeyDocument as CacheValue,
  KeyElement as CacheElement,
  KeyText as CacheText,
  ListedKey as CacheKey,
} from "../resources/caches/schema.ts";
export type {
  DatabaseClusterChange,
  DatabaseClusterResource,
  DatabaseClusterStatus,
  DatabaseMetrics,
  DatabaseQueries,
  DatabaseQuery,
  DatabaseResource,
  DatabaseStatement,
  DatabaseStatements,
  DatabaseStatus,
  DatabaseTypeList,
  QueryDocument,
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
export type {
  EnvironmentLogEntry,
  EnvironmentLogFilterType,
  EnvironmentLogsDocument,
  EnvironmentMetrics,
} from "../resources/applications/schema.ts";
export type { LogEntry, LogsDocument } from "../resources/shared/logs-schema.ts";
export type { InstanceMetricPeriod, MetricStep } from "../resources/shared/metrics-schema.ts";
export type { OrganizationResource } from "../resources/shared/organization-schema.ts";
export type {
  ApplicationResource as WebsocketApplicationResource,
  WebSocketClusterResource as WebsocketServerResource,
  MetricPeriod,
  WatchState as WebsocketWatchState,
  WebSocketClusterChange,
  WebSocketClusterStatus as WebsocketServerStatus,
  WebsocketDebugEvent,
  WebsocketApplicationMetrics,
  WebsocketMetrics,
  WebsocketPublishedEvent,
} from "../resources/websockets/schema.ts";
export type { ArchiveResource, BackupsDocument } from "../resources/shared/backup-schema.ts";
export type {
  CacheSnapshotResource,
  DatabaseSnapshotResource,
  SnapshotStatus,
} from "../resources/shared/snapshot-schema.ts";
export type { CreateOptions, NewSnapshot, Snapshots, StoreBackups } from "./snapshots.ts";
export type { CacheDocument, CacheFilter, CachePage, NewCache } from "./caches.ts";
export type { CacheKeyFilter, CacheKeyName, CacheKeyOptions, CacheKeys } from "./cache-keys.ts";
export { PilviClient } from "./client.ts";
export type { RotationOptions } from "./collection.ts";
export type { ConnectionOptions, Pause } from "./connection.ts";
export type {
  CancelScope,
  DatabaseClusterDocument,
  DatabaseClusterFilter,
  DatabaseClusterPage,
  NewDatabaseClone,
  NewDatabaseCluster,
  NewDatabaseRestore,
  DatabaseDocument,
  DatabasePage,
  NewQuery,
  StatementOrder,
} from "./databases.ts";
export type { Identifier, PageDocument, SingleDocument } from "./documents.ts";
export type { EventFilter, EventPage } from "./events.ts";
export type { EnvironmentLogFilter, EnvironmentLogPageOptions } from "./environment-logs.ts";
export type { LogFilter, LogPageOptions } from "./logs.ts";
export type { InvitationDocument, MemberDocument, OwnOrganizationDocument, Role } from "./members.ts";
export type { PasskeyOptions } from "./passkeys.ts";
export type { NewToken, TokenDocument, TokenPage } from "./tokens.ts";
export type { OrganizationDocument } from "./organization.ts";
export type { Redemption, SessionDocument } from "./sessions.ts";
export type { UserDocument } from "./users.ts";
export { isAbsence, PilviError, PilviUnreachable } from "./errors.ts";
export type { EngineFault } from "./errors.ts";
export { queryCsv } from "./query-csv.ts";
export type {
  NewWebsocketApplication,
  NewWebSocketCluster,
  WebsocketApplicationChange,
  WebsocketApplicationDocument,
  WebsocketApplicationPage,
  WebsocketApplications,
  WebsocketSecretRotation,
  WebsocketTestEvent,
  WebSocketClusterDocument,
  WebSocketClusterFilter,
  WebSocketClusterPage,
} from "./websockets.ts";
export type { UsageFilter, UsagePage } from "./usage.ts";
export type { ActivityFilter, ActivityPage } from "./activity.ts";
