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
