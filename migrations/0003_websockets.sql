-- WebSocket clusters and the applications in them.

create table websocket_servers (
  id text primary key,
  organization_id text not null references organizations (id),
  host_id text not null references hosts (id),
  name text not null,
  type text not null,
  region text not null,
  max_connections integer not null,
  connection_distribution_strategy text not null,
  port integer not null,
  status text not null,
  -- What the driver last told: engine, version and limits.
  engine jsonb,
  limits jsonb,
  created_at timestamptz not null default now()
);

create index websocket_servers_organization on websocket_servers (organization_id, id);

-- Clients of the protocol want digits. They name an application in every request, so no two ever have the same.
create sequence websocket_app_ids start 10001;

create table websocket_applications (
  id text primary key,
  server_id text not null references websocket_servers (id),
  name text not null,
  app_id text not null unique default nextval('websocket_app_ids')::text,
  key text not null unique,
  sealed_secret text not null,
  -- Secrets that were rotated out and are still good for a time: {sealed, expiresAt}, the newest first.
  former_secrets jsonb not null default '[]',
  allowed_origins text[] not null,
  ping_interval integer not null,
  activity_timeout integer not null,
  max_message_size integer not null,
  -- What is in force, also where the cluster's number is split evenly.
  max_connections integer not null,
  client_events_enabled boolean not null,
  subscription_count_enabled boolean not null,
  -- As the API has them; not jsonb, which would not keep the order of the members.
  webhooks json not null,
  created_at timestamptz not null default now()
);

create index websocket_applications_server on websocket_applications (server_id, id);
