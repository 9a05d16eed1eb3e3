-- What resources take of the quotas of their organization and of the token that ordered them.

-- The token's own limits; null is none.
alter table tokens
  add column max_resources bigint,
  add column max_memory_bytes bigint,
  add column max_storage_bytes bigint,
  add column max_connections bigint;

-- One row for each resource, from its creation until nothing is left of it.
create table allocations (
  resource_id text primary key,
  organization_id text not null references organizations (id),
  -- The token that created the resource or last made it larger; null where nobody knows.
  token_id text,
  kind text not null,
  -- Null until a control plane that knows the sizes has looked at a resource of an earlier release.
  memory_bytes bigint,
  connections bigint not null default 0,
  -- As the host measured it last.
  storage_bytes bigint not null default 0
);

create index allocations_unknown on allocations (resource_id) where memory_bytes is null;

-- Sums of allocations by owner, an organization or a token, so that no create counts rows.
create table quota_usage (
  owner text primary key,
  caches bigint not null default 0,
  databases bigint not null default 0,
  websockets bigint not null default 0,
  memory_bytes bigint not null default 0,
  storage_bytes bigint not null default 0,
  connections bigint not null default 0
);

insert into allocations (resource_id, organization_id, token_id, kind, memory_bytes, connections)
select r.id, r.organization_id, a.token_id, r.kind, r.memory_bytes, r.connections
from (
  select id, organization_id, 'caches' as kind, null::bigint as memory_bytes, 0 as connections from caches
  union all
  select id, organization_id, 'databases', null, 0 from databases
  union all
  select id, organization_id, 'websockets', 0, max_connections from websocket_servers
) r
left join lateral (
  select token_id from audit where resource_id = r.id and action = 'create' order by id limit 1
) a on true;

insert into quota_usage (owner, caches, databases, websockets, connections)
select o.owner, count(*) filter (where kind = 'caches'), count(*) filter (where kind = 'databases'),
       count(*) filter (where kind = 'websockets'), sum(connections)
from allocations cross join lateral (values (organization_id), (token_id)) as o (owner)
where o.owner is not null
group by o.owner;

create function add_usage(
  usage_owner text, usage_kind text, resources bigint, memory bigint, storage bigint, clients bigint
) returns void language sql as $$
  insert into quota_usage as u (owner, caches, databases, websockets, memory_bytes, storage_bytes, connections)
  values (
    usage_owner,
    case when usage_kind = 'caches' then resources else 0 end,
    case when usage_kind = 'databases' then resources else 0 end,
    case when usage_kind = 'websockets' then resources else 0 end,
    memory, storage, clients)
  on conflict (owner) do update
  set caches = u.caches + excluded.caches, databases = u.databases + excluded.databases,
      websockets = u.websockets + excluded.websockets, memory_bytes = u.memory_bytes + excluded.memory_bytes,
      storage_bytes = u.storage_bytes + excluded.storage_bytes, connections = u.connections + excluded.connections
$$;

-- The sums change in the transaction of the row itself, whoever writes it, so they cannot drift. The organization always
-- comes before its tokens, so that no two transactions wait for each other.
create function count_allocation() returns trigger language plpgsql as $$
declare
  is_new constant integer := case when tg_op = 'DELETE' then 0 else 1 end;
  was_there constant integer := case when tg_op = 'INSERT' then 0 else 1 end;
  resource_kind constant text := coalesce(new.kind, old.kind);
  memory constant bigint := coalesce(new.memory_bytes, 0);
  former_memory constant bigint := coalesce(old.memory_bytes, 0);
  storage constant bigint := coalesce(new.storage_bytes, 0);
  former_storage constant bigint := coalesce(old.storage_bytes, 0);
  clients constant bigint := coalesce(new.connections, 0);
  former_clients constant bigint := coalesce(old.connections, 0);
begin
  perform add_usage(coalesce(new.organization_id, old.organization_id), resource_kind, is_new - was_there,
    memory - former_memory, storage - former_storage, clients - former_clients);
  if tg_op = 'UPDATE' and new.token_id is not distinct from old.token_id then
    if new.token_id is not null then
      perform add_usage(new.token_id, resource_kind, 0,
        memory - former_memory, storage - former_storage, clients - former_clients);
    end if;
    return null;
  end if;
  if old.token_id is not null then
    perform add_usage(old.token_id, resource_kind, -1, -former_memory, -former_storage, -former_clients);
  end if;
  if new.token_id is not null then
    perform add_usage(new.token_id, resource_kind, 1, memory, storage, clients);
  end if;
  return null;
end
$$;

create trigger count_allocation after insert or update or delete on allocations
for each row execute function count_allocation();
