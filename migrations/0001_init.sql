-- Organizations, tokens, hosts, the work queue and caches: what every later kind builds on.

create table organizations (
  id text primary key,
  name text not null unique,
  created_at timestamptz not null default now()
);

-- Only the hash of a token is kept; a revoked one stays, so that its first use cannot bring it back.
create table tokens (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  token_hash text not null unique,
  abilities text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);

-- Which keys the ciphertexts of this store were made with, so that a wrong key is noticed before it does harm.
create table encryption_keys (
  id text primary key,
  created_at timestamptz not null default now()
);

-- Machines that run instances.
create table hosts (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now()
);

-- A port belongs to one resource of one host for as long as the resource lives.
create table ports (
  host_id text not null references hosts (id),
  port integer not null check (port between 1 and 65535),
  resource_id text not null unique,
  primary key (host_id, port)
);

-- Going round keeps a freed port unused for long, so that an old connection string does not reach a new resource.
create sequence port_cursor;

-- One row for each resource: when it is to be looked at next, and who is at it.
create table work (
  kind text not null,
  id text not null,
  host_id text not null references hosts (id),
  run_at timestamptz not null default now(),
  owner integer,
  lease_until timestamptz,
  attempts integer not null default 0,
  last_error text,
  deadline_at timestamptz,
  primary key (kind, id)
);

create index work_due on work (run_at) where owner is null;
create index work_leased on work (lease_until) where owner is not null;
create sequence work_owner as integer cycle;

-- The answer is never kept: a replay renders the resource anew for the token that asks.
create table idempotency_keys (
  organization_id text not null references organizations (id),
  key text not null,
  request_hash text not null,
  resource_kind text not null,
  resource_id text,
  created_at timestamptz not null default now(),
  primary key (organization_id, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);
create index idempotency_keys_resource on idempotency_keys (resource_id);

-- What was wished for, by whom. Rows outlive what they speak of.
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  organization_id text not null,
  token_id text,
  request_id text,
  action text not null,
  resource_kind text not null,
  resource_id text not null,
  details jsonb not null default '{}'
);

create index audit_resource on audit (resource_id);

create table caches (
  id text primary key,
  organization_id text not null references organizations (id),
  host_id text not null references hosts (id),
  name text not null,
  type text not null,
  region text not null,
  size text not null,
  auto_upgrade_enabled boolean not null,
  is_public boolean not null,
  eviction_policy text not null,
  uses_hibernation boolean not null,
  hibernation_timeout integer not null,
  port integer not null,
  username text not null,
  sealed_password text not null,
  status text not null,
  -- What the driver last told: engine, version and limits.
  engine jsonb,
  limits jsonb,
  created_at timestamptz not null default now()
);

create index caches_organization on caches (organization_id, id);
