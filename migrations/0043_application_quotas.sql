-- What applications take of the quotas: ports of their host, and resources with memory.

-- The family of organizations that the port of an instance counts for, so that no family takes all ports of a host.
alter table instances add column family_id text;

update instances i set family_id = o.family_id
from (
  select id, organization_id from caches
  union all
  select id, organization_id from databases
  union all
  select id, organization_id from websocket_servers
  union all
  select e.id, a.organization_id from environments e join applications a on a.id = e.application_id
) r
join organizations o on o.id = r.organization_id
where r.id = i.resource_id and i.port is not null;

create index instances_family on instances (family_id, host_id) where port is not null;

-- The environments of applications.
alter table quota_usage add column applications bigint not null default 0;

create or replace function add_usage(
  usage_owner text, usage_kind text, resources bigint, memory bigint, storage bigint, clients bigint
) returns void language sql as $$
  insert into quota_usage as u (
    owner, caches, databases, websockets, applications, memory_bytes, storage_bytes, connections)
  values (
    usage_owner,
    case when usage_kind = 'caches' then resources else 0 end,
    case when usage_kind = 'databases' then resources else 0 end,
    case when usage_kind = 'websockets' then resources else 0 end,
    case when usage_kind = 'environments' then resources else 0 end,
    memory, storage, clients)
  on conflict (owner) do update
  set caches = u.caches + excluded.caches, databases = u.databases + excluded.databases,
      websockets = u.websockets + excluded.websockets, applications = u.applications + excluded.applications,
      memory_bytes = u.memory_bytes + excluded.memory_bytes,
      storage_bytes = u.storage_bytes + excluded.storage_bytes, connections = u.connections + excluded.connections
$$;

-- Neither an archive nor an application has a usage of its own.
drop trigger follow_size on allocations;
drop trigger follow_end on allocations;
drop trigger follow_resize on allocations;
create trigger follow_size after insert on allocations for each row
when (new.kind not in ('archives', 'applications', 'environments')) execute function follow_size();
create trigger follow_end after delete on allocations for each row
when (old.kind not in ('archives', 'applications', 'environments')) execute function follow_size();
create trigger follow_resize after update of memory_bytes on allocations for each row
when (new.memory_bytes is distinct from old.memory_bytes and new.kind <> 'environments') execute function follow_size();

-- Each process has the memory that the size of its instance ends with, such as `flex.g-1vcpu-512mb`.
insert into allocations (resource_id, organization_id, token_id, kind, memory_bytes)
select 'environment-' || e.id, a.organization_id, made.token_id, 'environments', coalesce(taken.bytes, 0)
from environments e join applications a on a.id = e.application_id
left join lateral (
  -- The first environment was made with its application.
  select token_id from audit where resource_id in (e.id, a.id) and action = 'create'
  order by resource_id = e.id desc, id limit 1
) made on true
left join lateral (
  select sum(size.bytes * (replicas.count * ((g.type = 'app')::int + p.background) + p.schedulers))::bigint as bytes
  from process_groups g,
    lateral regexp_match(g.settings ->> 'size', '-(\d+)(mb|gb)$') parts,
    lateral (
      select parts[1]::bigint * case parts[2] when 'gb' then 1073741824 else 1048576 end as bytes) size,
    lateral (select coalesce((g.settings ->> 'replicas')::int, 1) as count) replicas,
    lateral (
      select coalesce(sum(b.processes) filter (where b.type <> 'scheduler'), 0) as background,
             count(*) filter (where b.type = 'scheduler') as schedulers
      from background_processes b where b.process_group_id = g.id) p
  where g.environment_id = e.id
) taken on true
order by e.id;
