-- What lists count and where their pages begin, so that neither depends on how many resources an organization has.

-- The resources of an organization and a kind stand in segments of 256, in order of their creation. For each segment
-- (level 0), and for each 32 segments together (level 1), the store keeps how many resources there are by type, region and
-- status: a total and the beginning of a page are sums over a few hundred rows. No row has 0.
create table resource_counts (
  organization_id text not null references organizations (id),
  kind text not null,
  level smallint not null,
  -- The number of the segment, divided by 32 at level 1.
  block integer not null,
  type text not null,
  region text not null,
  status text not null,
  resources integer not null,
  primary key (organization_id, kind, level, block, type, region, status)
);

-- A new resource goes into the last segment until that is full. Creates at the same time do not see each other, so a
-- segment may become a little larger.
create function choose_segment() returns trigger language plpgsql as $$
declare
  resource_kind constant text := tg_argv[0];
  segment_size constant integer := 256;
  last_segment constant integer := (
    select max(block) from resource_counts
    where organization_id = new.organization_id and kind = resource_kind and level = 0);
begin
  new.segment := coalesce(last_segment, 0);
  if segment_size <= (
    select sum(resources) from resource_counts
    where organization_id = new.organization_id and kind = resource_kind and level = 0 and block = last_segment
  ) then
    new.segment := last_segment + 1;
  end if;
  return new;
end
$$;

-- The counts change in the transaction of the row itself, so they cannot drift. They do so when it commits and in one
-- order, so that transactions wait for each other as shortly as possible and never in a circle.
create function count_resource() returns trigger language plpgsql as $$
declare
  resource_kind constant text := tg_argv[0];
begin
  insert into resource_counts as c (organization_id, kind, level, block, type, region, status, resources)
  select organization_id, resource_kind, level, segment / segments, type, region, status, change
  from (values
    (old.organization_id, old.segment, old.type, old.region, old.status, -1),
    (new.organization_id, new.segment, new.type, new.region, new.status, 1)
  ) as changes (organization_id, segment, type, region, status, change)
  cross join (values (0, 1), (1, 32)) as levels (level, segments)
  where organization_id is not null
  order by organization_id, level, segment / segments, type, region, status
  on conflict (organization_id, kind, level, block, type, region, status) do update
  set resources = c.resources + excluded.resources;
  delete from resource_counts
  where organization_id = old.organization_id and kind = resource_kind
    and (level, block) in ((0, old.segment), (1, old.segment / 32))
    and type = old.type and region = old.region and status = old.status and resources = 0;
  return null;
end
$$;

-- Gives a kind's table, which has the columns id, organization_id, type, region and status, its segments and counts.
create procedure keep_counts(resource_kind text, resources regclass) language plpgsql as $$
begin
  execute format('alter table %s add column segment integer not null default 0', resources);
  execute format(
    'update %1$s r set segment = placed.segment
     from (select id, (row_number() over (partition by organization_id order by id) - 1) / 256 as segment from %1$s) placed
     where placed.id = r.id and placed.segment > 0', resources);
  execute format(
    'insert into resource_counts (organization_id, kind, level, block, type, region, status, resources)
     select organization_id, %L, level, segment / segments, type, region, status, count(*)
     from %s cross join (values (0, 1), (1, 32)) as levels (level, segments)
     group by organization_id, level, segment / segments, type, region, status', resource_kind, resources);
  execute format('create index on %s (organization_id, segment, type, region, status, id)', resources);
  execute format(
    'create trigger choose_segment before insert on %s for each row execute function choose_segment(%L)',
    resources, resource_kind);
  execute format(
    'create constraint trigger count_resource after insert or delete on %s deferrable initially deferred
     for each row execute function count_resource(%L)', resources, resource_kind);
  execute format(
    'create constraint trigger recount_resource after update on %s deferrable initially deferred for each row
     when ((old.organization_id, old.segment, old.type, old.region, old.status)
       is distinct from (new.organization_id, new.segment, new.type, new.region, new.status))
     execute function count_resource(%L)', resources, resource_kind);
end
$$;

call keep_counts('caches', 'caches');
call keep_counts('databases', 'databases');
call keep_counts('websockets', 'websocket_servers');

-- The new indexes begin with the organization as well.
drop index caches_organization, databases_organization, websocket_servers_organization;

create index websocket_servers_name on websocket_servers (organization_id, name, id);
