-- Database clusters and the databases in them, which the API calls schemas.

create table databases (
  id text primary key,
  organization_id text not null references organizations (id),
  host_id text not null references hosts (id),
  name text not null,
  type text not null,
  region text not null,
  -- The engine and its major version that the cluster is to have for life.
  engine_name text not null,
  version text not null,
  -- Not jsonb, which would not keep the order of the members.
  config json not null,
  port integer not null,
  username text not null,
  sealed_password text not null,
  status text not null,
  -- What the driver last told: engine, version and limits.
  engine jsonb,
  limits jsonb,
  created_at timestamptz not null default now()
);

create index databases_organization on databases (organization_id, id);

create table database_schemas (
  id text primary key,
  database_id text not null references databases (id),
  name text not null,
  status text not null,
  created_at timestamptz not null default now(),
  -- A name is free again when the engine no longer has the database.
  unique (database_id, name)
);

create index database_schemas_database on database_schemas (database_id, id);
