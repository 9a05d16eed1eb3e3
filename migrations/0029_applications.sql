-- Applications, their environments, and what runs in an environment.

create table applications (
  id text primary key,
  organization_id text not null references organizations (id),
  host_id text not null references hosts (id),
  name text not null,
  slug text not null,
  -- Every kind with counted lists has a type.
  type text not null default 'application',
  region text not null,
  -- The repository that commits are fetched from: {url, defaultBranch}; null where sources are pushed or uploaded alone.
  repository jsonb,
  -- The folder of the application in its source, for a repository of several applications.
  root_directory text,
  slack_channel text,
  -- The environment that commands and answers take when none is named.
  default_environment_id text,
  status text not null default 'available' check (status in ('available', 'deleting')),
  created_at timestamptz not null default now(),
  unique (organization_id, slug)
);

call keep_counts('applications', 'applications');

create table environments (
  id text primary key,
  application_id text not null references applications (id),
  name text not null,
  slug text not null,
  branch text not null,
  -- The order of its customer; a deployment under way and sleep are seen elsewhere.
  status text not null check (status in ('running', 'stopped', 'deleting')),
  -- The first label of its address below the domain of applications. No two environments ever have the same.
  vanity_name text not null unique,
  -- Whatever a customer can set, as `EnvironmentSettings` in the code.
  settings jsonb not null,
  -- The environment variables in their order, sealed as a whole.
  sealed_variables text not null,
  -- The secret of its deploy hook, and the hash that finds the environment of a secret; both null without a hook.
  sealed_deploy_hook text,
  deploy_hook_hash text unique,
  database_schema_id text references database_schemas (id) on delete set null,
  cache_id text references caches (id) on delete set null,
  websocket_application_id text references websocket_applications (id) on delete set null,
  -- The deployment whose release serves; null before the first.
  current_deployment_id text,
  -- The digest of the processes that could not be started after a change, and why; both null while all is well.
  refused_digest text,
  last_error text,
  created_at timestamptz not null default now(),
  unique (application_id, name),
  unique (application_id, slug)
);

create index environments_database on environments (database_schema_id) where database_schema_id is not null;
create index environments_cache on environments (cache_id) where cache_id is not null;
create index environments_websocket on environments (websocket_application_id)
  where websocket_application_id is not null;

-- The instances of an environment: processes that are sized together, the application itself, or workers.
create table process_groups (
  id text primary key,
  environment_id text not null references environments (id),
  name text not null,
  type text not null check (type in ('app', 'service')),
  -- Whatever a customer can set, as `InstanceSettings` in the code.
  settings jsonb not null,
  created_at timestamptz not null default now(),
  unique (environment_id, name)
);

create table deployments (
  id text primary key,
  environment_id text not null references environments (id),
  status text not null,
  branch text not null,
  commit_hash text,
  commit_message text,
  commit_author text,
  -- The user that began it; null for a token, a push or a hook.
  initiator_id text references users (id) on delete set null,
  -- The settings of the environment at its beginning, and the plan that was made of them and of the source.
  settings jsonb not null,
  plan jsonb,
  -- The deployment whose release it starts again; null for a deployment that builds.
  release_of text references deployments (id),
  -- The steps of its log: {step, phase, status, description, startedAt, durationMs}. The host keeps their output.
  steps jsonb not null default '[]',
  failure_reason text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);

create index deployments_environment on deployments (environment_id, id);

-- One deployment of an environment at a time is under way; those that came after wait in their order.
create index deployments_open on deployments (environment_id, id) where finished_at is null;

-- The processes that serve an environment: each has one release and the variables of its start for its life. Two of them
-- run during a swap. Its address is in `instances`.
create table application_processes (
  id text primary key references instances (id) on delete cascade,
  environment_id text not null references environments (id),
  deployment_id text not null references deployments (id),
  -- The spec without its address, sealed since it has variables, and the digest of all that it follows from.
  sealed_spec text not null,
  digest text not null,
  state text not null check (state in ('starting', 'serving', 'retiring')),
  -- When a retiring process is ended.
  retires_at timestamptz
);

create index application_processes_environment on application_processes (environment_id);
