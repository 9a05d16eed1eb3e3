-- What runs of a resource, and where: a resource has none, one or several instances, and work need not be on a host.

-- What a driver runs under this id for a resource. A port belongs to one instance of its host for as long as that lives.
create table instances (
  id text primary key,
  kind text not null,
  resource_id text not null,
  host_id text not null references hosts (id),
  port integer check (port between 1 and 65535),
  unique (host_id, port)
);

create index instances_resource on instances (resource_id);

-- So far every resource had one instance, with its own id and one port.
insert into instances (id, kind, resource_id, host_id, port)
select p.resource_id, w.kind, p.resource_id, p.host_id, p.port from ports p join work w on w.id = p.resource_id;

drop table ports;

alter table work alter column host_id drop not null;
