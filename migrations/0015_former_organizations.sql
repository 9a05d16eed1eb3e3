-- Organizations that were deleted. Their events stay until they are too old, so that the usage of their resources can be counted.
create table former_organizations (
  id text primary key,
  name text not null,
  deleted_at timestamptz not null default now()
);
