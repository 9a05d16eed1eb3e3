-- Metrics of WebSocket clusters and their applications, and usage that is counted from the readings of each minute.

alter table metrics_minutes
  add column messages_received float8, add column messages_sent float8, add column api_requests float8,
  add column webhooks_delivered float8, add column webhooks_failed float8, add column webhooks_dropped float8;
alter table metrics_fives
  add column messages_received float8, add column messages_sent float8, add column api_requests float8,
  add column webhooks_delivered float8, add column webhooks_failed float8, add column webhooks_dropped float8;
alter table metrics_hours
  add column messages_received float8, add column messages_sent float8, add column api_requests float8,
  add column webhooks_delivered float8, add column webhooks_failed float8, add column webhooks_dropped float8;
alter table metrics_days
  add column messages_received float8, add column messages_sent float8, add column api_requests float8,
  add column webhooks_delivered float8, add column webhooks_failed float8, add column webhooks_dropped float8;

-- Whatever has metrics, with the host that measures it: hosts, instances, and the parts of instances.
create view measured as
  select id, id as host_id from hosts
  union all
  select id, host_id from instances
  union all
  select a.id, s.host_id from websocket_applications a join websocket_servers s on s.id = a.server_id;

create function forget_metrics() returns trigger language plpgsql as $$
begin
  delete from metrics_hours where resource_id = old.id;
  delete from metrics_days where resource_id = old.id;
  return null;
end
$$;

create trigger forget_metrics after delete on websocket_applications for each row execute function forget_metrics();

-- Messages come with the readings, each minute once, so no counter of a process is remembered here any more.
create or replace function follow_usage() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into usage_resources (resource_id, organization_id, kind, type, name, created_at, counted_until)
    values (new.id, new.organization_id, tg_argv[0], new.type, new.name, new.created_at, new.created_at);
  elsif tg_op = 'UPDATE' then
    update usage_resources set name = new.name where resource_id = new.id;
  else
    update usage_resources set deleted_at = clock_timestamp() where resource_id = old.id;
    insert into usage_marks (resource_id, at) values (old.id, clock_timestamp());
  end if;
  return null;
end
$$;

drop table usage_counters;

-- From when on hours of earlier days have to be added up again, since readings of them came late; null for none.
alter table usage_horizon add column late_hours_since timestamptz;
