-- Metrics of environments. Each release has other processes, so the readings of processes are added up in rows of the
-- instance, or of the background process, for which they run.

create or replace view measured as
  select id, id as host_id from hosts
  union all
  select id, host_id from instances
  union all
  select a.id, s.host_id from websocket_applications a join websocket_servers s on s.id = a.server_id
  union all
  select g.id, a.host_id
  from process_groups g join environments e on e.id = g.environment_id join applications a on a.id = e.application_id
  union all
  select b.id, a.host_id
  from background_processes b join process_groups g on g.id = b.process_group_id
  join environments e on e.id = g.environment_id join applications a on a.id = e.application_id;

-- The id under which the readings of an instance are kept.
create function measured_as(instance text) returns text language sql stable as $$
  select coalesce(
    (select coalesce(
       p.background_process_id,
       (select g.id from process_groups g
        where g.environment_id = p.environment_id and g.type = 'app' order by g.id limit 1))
     from application_processes p where p.id = instance),
    instance)
$$;

create trigger forget_metrics after delete on process_groups for each row execute function forget_metrics();
create trigger forget_metrics after delete on background_processes for each row execute function forget_metrics();
