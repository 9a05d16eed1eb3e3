-- Backups: the archives of instances, the snapshots in them, and what the first data of an instance comes from.

alter table databases add column origin jsonb;
alter table caches add column origin jsonb;

-- One row for each instance that has backups or shall have them. It outlives its instance.
create table archives (
  -- The id of the instance.
  id text primary key,
  organization_id text not null references organizations (id),
  host_id text not null references hosts (id),
  kind text not null check (kind in ('caches', 'databases')),
  -- The order of the instance as it was last, so that a deleted instance can be restored.
  source jsonb not null,
  -- When the instance was deleted, and whether its backups go with it.
  deleted_at timestamptz,
  is_purged boolean not null default false,
  created_at timestamptz not null default now()
);

create index archives_organization on archives (organization_id, id);

create table snapshots (
  -- The id of the backup as well.
  id text primary key,
  archive_id text not null references archives (id),
  organization_id text not null references organizations (id),
  host_id text not null references hosts (id),
  kind text not null check (kind in ('caches', 'databases')),
  -- Null for a scheduled snapshot.
  name text,
  description text,
  type text not null check (type in ('manual', 'scheduled')),
  status text not null default 'pending' check (status in ('pending', 'creating', 'available', 'failed', 'deleting')),
  storage_bytes bigint,
  -- The moment that its data is from.
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  last_error text
);

create index snapshots_archive on snapshots (archive_id, id);

-- The restores under way, whose backups must not be deleted.
create index databases_restoring on databases (id) where status = 'restoring';
create index caches_restoring on caches (id) where status = 'restoring';

-- An archive has a part of the quotas and no usage of its own.
drop trigger follow_size on allocations;
create trigger follow_size after insert on allocations for each row
when (new.kind <> 'archives') execute function follow_size();
create trigger follow_end after delete on allocations for each row
when (old.kind <> 'archives') execute function follow_size();
