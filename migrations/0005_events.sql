-- What happened to resources. Rows outlive what they speak of, until they are older than events are kept.

create sequence event_ids;

create table events (
  organization_id text not null,
  id bigint not null,
  -- When it happened; what a host tells later has the time of the host.
  at timestamptz not null,
  type text not null,
  resource_type text not null,
  resource_id text not null,
  resource_name text not null,
  -- The request that caused it; null for what came about by itself.
  request_id text,
  details jsonb not null default '{}',
  primary key (organization_id, id)
);

create index events_time on events (organization_id, at, id);
create index events_type on events (organization_id, resource_type, type, at, id);
create index events_resource on events (resource_id, at, id);

-- Ids of an organization follow the order of the commits: the lock is held until the transaction ends, so that a reader who has
-- seen an id never misses a lower one. No row may be locked after it that somebody locks who then waits for it; the sums of the
-- quotas come after it everywhere.
create function number_event() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7458003, hashtext(new.organization_id));
  new.id := nextval('event_ids');
  new.at := coalesce(new.at, clock_timestamp());
  perform pg_notify('events', new.organization_id);
  return new;
end
$$;

create trigger number_event before insert on events for each row execute function number_event();
