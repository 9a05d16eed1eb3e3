-- What resources used, by day in UTC. Rows outlive their resources, and the events from which they are made.

create table usage_resources (
  resource_id text primary key,
  organization_id text not null,
  kind text not null,
  type text not null,
  name text not null,
  created_at timestamptz not null,
  deleted_at timestamptz,
  -- Until when its events are in its days, and what it did at that time.
  counted_until timestamptz not null,
  state text not null default 'stopped' check (state in ('awake', 'asleep', 'stopped'))
);

create index usage_resources_organization on usage_resources (organization_id, resource_id);
create index usage_resources_counted on usage_resources (counted_until) where deleted_at is null;

-- The memory that a resource's order stands for, from a time on; the first row also counts before its time.
create table usage_sizes (
  resource_id text not null,
  since timestamptz not null,
  memory_bytes bigint not null,
  primary key (resource_id, since)
);

-- From when on the days of a resource have to be made again. Rows are only added and deleted, so that the writer of an
-- event never waits for the reader of all events.
create table usage_marks (
  resource_id text not null,
  at timestamptz not null
);

create index usage_marks_resource on usage_marks (resource_id);
create index usage_marks_time on usage_marks (at);

create table usage_hours (
  resource_id text not null,
  hour timestamptz not null,
  -- At the last sample of the hour.
  storage_bytes bigint not null default 0,
  -- The most of all samples.
  connections bigint not null default 0,
  messages_received bigint not null default 0,
  messages_sent bigint not null default 0,
  primary key (resource_id, hour)
);

create index usage_hours_time on usage_hours (hour);

-- The latest reading of a counter that begins at 0 with each process.
create table usage_counters (
  id text primary key,
  resource_id text not null,
  messages_received bigint not null,
  messages_sent bigint not null
);

create index usage_counters_resource on usage_counters (resource_id);

create table usage_days (
  resource_id text not null,
  day date not null,
  awake_ms bigint not null default 0,
  awake_mib_ms bigint not null default 0,
  -- What may be missing from awake_ms, because no host saw the end of a process.
  uncertain_ms bigint not null default 0,
  asleep_ms bigint not null default 0,
  asleep_mib_ms bigint not null default 0,
  is_complete boolean not null default true,
  -- What the resource did at the end of the day, or of what is counted of it; null while only hours were added up.
  state text,
  storage_byte_hours bigint not null default 0,
  connections bigint not null default 0,
  messages_received bigint not null default 0,
  messages_sent bigint not null default 0,
  primary key (resource_id, day)
);

create index usage_days_time on usage_days (day);

-- Events before this time may be deleted, so the days before it are never made again.
create table usage_horizon (
  is_single boolean primary key default true check (is_single),
  events_since timestamptz not null
);

insert into usage_horizon (events_since) values ('-infinity');

create function follow_usage() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into usage_resources (resource_id, organization_id, kind, type, name, created_at, counted_until)
    values (new.id, new.organization_id, tg_argv[0], new.type, new.name, new.created_at, new.created_at);
  elsif tg_op = 'UPDATE' then
    update usage_resources set name = new.name where resource_id = new.id;
  else
    update usage_resources set deleted_at = clock_timestamp() where resource_id = old.id;
    insert into usage_marks (resource_id, at) values (old.id, clock_timestamp());
    delete from usage_counters where resource_id = old.id;
  end if;
  return null;
end
$$;

-- Begins the usage of a kind, whose table has the columns id, organization_id, type, name and created_at.
create procedure keep_usage(resource_kind text, resources regclass) language plpgsql as $$
begin
  execute format(
    'insert into usage_resources (resource_id, organization_id, kind, type, name, created_at, counted_until)
     select id, organization_id, %L, type, name, created_at, created_at from %s', resource_kind, resources);
  execute format(
    'create trigger follow_usage after insert or delete on %s for each row execute function follow_usage(%L)',
    resources, resource_kind);
  execute format(
    'create trigger follow_name after update of name on %s for each row when (old.name <> new.name)
     execute function follow_usage(%L)', resources, resource_kind);
end
$$;

call keep_usage('caches', 'caches');
call keep_usage('databases', 'databases');
call keep_usage('websockets', 'websocket_servers');

insert into usage_sizes (resource_id, since, memory_bytes)
select a.resource_id, r.created_at, a.memory_bytes
from allocations a join usage_resources r using (resource_id) where a.memory_bytes is not null;

create function follow_size() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.storage_bytes > 0 then
      insert into usage_hours (resource_id, hour, storage_bytes)
      values (old.resource_id, date_trunc('hour', clock_timestamp(), 'UTC'), old.storage_bytes)
      on conflict (resource_id, hour) do update set storage_bytes = excluded.storage_bytes;
    end if;
    return null;
  end if;
  if new.memory_bytes is null then
    return null;
  end if;
  insert into usage_sizes (resource_id, since, memory_bytes)
  values (new.resource_id, clock_timestamp(), new.memory_bytes)
  on conflict (resource_id, since) do update set memory_bytes = excluded.memory_bytes;
  insert into usage_marks (resource_id, at) values (new.resource_id, clock_timestamp());
  return null;
end
$$;

create trigger follow_size after insert or delete on allocations for each row execute function follow_size();
create trigger follow_resize after update of memory_bytes on allocations for each row
when (new.memory_bytes is distinct from old.memory_bytes) execute function follow_size();

create function mark_usage() returns trigger language plpgsql as $$
begin
  insert into usage_marks (resource_id, at)
  values (new.resource_id, least(new.at, (new.details ->> 'not_before')::timestamptz));
  return null;
end
$$;

create trigger mark_usage after insert on events for each row
when (new.type in ('started', 'restarted', 'stopped', 'crashed', 'asleep', 'failed', 'disk_full', 'gap'))
execute function mark_usage();
