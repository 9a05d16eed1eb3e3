// The migrations in their order, as text, so that they travel inside the built program.
import init from "../../migrations/0001_init.sql" with { type: "text" };
import databases from "../../migrations/0002_databases.sql" with { type: "text" };
import websockets from "../../migrations/0003_websockets.sql" with { type: "text" };
import quotas from "../../migrations/0004_quotas.sql" with { type: "text" };
import events from "../../migrations/0005_events.sql" with { type: "text" };
import lists from "../../migrations/0006_lists.sql" with { type: "text" };
import instances from "../../migrations/0007_instances.sql" with { type: "text" };
import actions from "../../migrations/0008_actions.sql" with { type: "text" };
import journals from "../../migrations/0009_journals.sql" with { type: "text" };
import accounts from "../../migrations/0010_accounts.sql" with { type: "text" };
import pages from "../../migrations/0011_pages.sql" with { type: "text" };
import usage from "../../migrations/0012_usage.sql" with { type: "text" };
import activity from "../../migrations/0013_activity.sql" with { type: "text" };
import metrics from "../../migrations/0014_metrics.sql" with { type: "text" };
import formerOrganizations from "../../migrations/0015_former_organizations.sql" with { type: "text" };
import gatewayConnections from "../../migrations/0016_gateway_connections.sql" with { type: "text" };
import formerPasswords from "../../migrations/0017_former_passwords.sql" with { type: "text" };
import rareRows from "../../migrations/0018_rare_rows.sql" with { type: "text" };
import snapshots from "../../migrations/0019_snapshots.sql" with { type: "text" };
import machineFiles from "../../migrations/0020_machine_files.sql" with { type: "text" };
import verifications from "../../migrations/0021_verifications.sql" with { type: "text" };
import masks from "../../migrations/0022_masks.sql" with { type: "text" };
import replicaLag from "../../migrations/0023_replica_lag.sql" with { type: "text" };
import instanceStorage from "../../migrations/0024_instance_storage.sql" with { type: "text" };
import storeVerification from "../../migrations/0025_store_verification.sql" with { type: "text" };
import refreshes from "../../migrations/0026_refreshes.sql" with { type: "text" };
import accountActivity from "../../migrations/0027_account_activity.sql" with { type: "text" };
import websocketMetrics from "../../migrations/0028_websocket_metrics.sql" with { type: "text" };
import applications from "../../migrations/0029_applications.sql" with { type: "text" };
import commands from "../../migrations/0030_commands.sql" with { type: "text" };
import backgroundProcesses from "../../migrations/0031_background_processes.sql" with { type: "text" };
import deployKeys from "../../migrations/0032_deploy_keys.sql" with { type: "text" };
import environmentMetrics from "../../migrations/0033_environment_metrics.sql" with { type: "text" };
import requests from "../../migrations/0034_requests.sql" with { type: "text" };
import schedulers from "../../migrations/0035_schedulers.sql" with { type: "text" };
import repositoryLogins from "../../migrations/0036_repository_logins.sql" with { type: "text" };
import metricsLock from "../../migrations/0037_metrics_lock.sql" with { type: "text" };
import tokenMakers from "../../migrations/0038_token_makers.sql" with { type: "text" };
import organizationFamilies from "../../migrations/0039_organization_families.sql" with { type: "text" };
import workOrganizations from "../../migrations/0040_work_organizations.sql" with { type: "text" };
import invitationMakers from "../../migrations/0041_invitation_makers.sql" with { type: "text" };
import snapshotRefusals from "../../migrations/0042_snapshot_refusals.sql" with { type: "text" };
import applicationQuotas from "../../migrations/0043_application_quotas.sql" with { type: "text" };
import terminals from "../../migrations/0044_terminals.sql" with { type: "text" };
import edgeSettings from "../../migrations/0045_edge_settings.sql" with { type: "text" };
import lookups from "../../migrations/0046_lookups.sql" with { type: "text" };
import foreignKeyIndexes from "../../migrations/0047_foreign_key_indexes.sql" with { type: "text" };
import type { Migration } from "./migrate.ts";

export const migrations: Migration[] = [
  { name: "0001_init", sql: init },
  { name: "0002_databases", sql: databases },
  { name: "0003_websockets", sql: websockets },
  { name: "0004_quotas", sql: quotas },
  { name: "0005_events", sql: events },
  { name: "0006_lists", sql: lists },
  { name: "0007_instances", sql: instances },
  { name: "0008_actions", sql: actions },
  { name: "0009_journals", sql: journals },
  { name: "0010_accounts", sql: accounts },
  { name: "0011_pages", sql: pages },
  { name: "0012_usage", sql: usage },
  { name: "0013_activity", sql: activity },
  { name: "0014_metrics", sql: metrics },
  { name: "0015_former_organizations", sql: formerOrganizations },
  { name: "0016_gateway_connections", sql: gatewayConnections },
  { name: "0017_former_passwords", sql: formerPasswords },
  { name: "0018_rare_rows", sql: rareRows },
  { name: "0019_snapshots", sql: snapshots },
  { name: "0020_machine_files", sql: machineFiles },
  { name: "0021_verifications", sql: verifications },
  { name: "0022_masks", sql: masks },
  { name: "0023_replica_lag", sql: replicaLag },
  { name: "0024_instance_storage", sql: instanceStorage },
  { name: "0025_store_verification", sql: storeVerification },
  { name: "0026_refreshes", sql: refreshes },
  { name: "0027_account_activity", sql: accountActivity },
  { name: "0028_websocket_metrics", sql: websocketMetrics },
  { name: "0029_applications", sql: applications },
  { name: "0030_commands", sql: commands },
  { name: "0031_background_processes", sql: backgroundProcesses },
  { name: "0032_deploy_keys", sql: deployKeys },
  { name: "0033_environment_metrics", sql: environmentMetrics },
  { name: "0034_requests", sql: requests },
  { name: "0035_schedulers", sql: schedulers },
  { name: "0036_repository_logins", sql: repositoryLogins },
  { name: "0037_metrics_lock", sql: metricsLock },
  { name: "0038_token_makers", sql: tokenMakers },
  { name: "0039_organization_families", sql: organizationFamilies },
  { name: "0040_work_organizations", sql: workOrganizations },
  { name: "0041_invitation_makers", sql: invitationMakers },
  { name: "0042_snapshot_refusals", sql: snapshotRefusals },
  { name: "0043_application_quotas", sql: applicationQuotas },
  { name: "0044_terminals", sql: terminals },
  { name: "0045_edge_settings", sql: edgeSettings },
  { name: "0046_lookups", sql: lookups },
  { name: "0047_foreign_key_indexes", sql: foreignKeyIndexes },
];
