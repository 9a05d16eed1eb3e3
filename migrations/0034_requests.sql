-- Requests of environments: answers by their status, and by the time until they began. They are counted by the edge, so
-- they are rows of the environment, beside those of its instance.

alter table metrics_minutes
  add column responses2xx float8, add column responses3xx float8, add column responses4xx float8,
  add column responses5xx float8, add column responses_in2ms float8, add column responses_in5ms float8,
  add column responses_in10ms float8, add column responses_in20ms float8, add column responses_in50ms float8,
  add column responses_in100ms float8, add column responses_in200ms float8, add column responses_in500ms float8,
  add column responses_in1s float8, add column responses_in2s float8, add column responses_in5s float8,
  add column responses_in10s float8, add column responses_in30s float8, add column responses_later float8,
  add column response_ms float8;

alter table metrics_fives
  add column responses2xx float8, add column responses3xx float8, add column responses4xx float8,
  add column responses5xx float8, add column responses_in2ms float8, add column responses_in5ms float8,
  add column responses_in10ms float8, add column responses_in20ms float8, add column responses_in50ms float8,
  add column responses_in100ms float8, add column responses_in200ms float8, add column responses_in500ms float8,
  add column responses_in1s float8, add column responses_in2s float8, add column responses_in5s float8,
  add column responses_in10s float8, add column responses_in30s float8, add column responses_later float8,
  add column response_ms float8;

alter table metrics_hours
  add column responses2xx float8, add column responses3xx float8, add column responses4xx float8,
  add column responses5xx float8, add column responses_in2ms float8, add column responses_in5ms float8,
  add column responses_in10ms float8, add column responses_in20ms float8, add column responses_in50ms float8,
  add column responses_in100ms float8, add column responses_in200ms float8, add column responses_in500ms float8,
  add column responses_in1s float8, add column responses_in2s float8, add column responses_in5s float8,
  add column responses_in10s float8, add column responses_in30s float8, add column responses_later float8,
  add column response_ms float8;

alter table metrics_days
  add column responses2xx float8, add column responses3xx float8, add column responses4xx float8,
  add column responses5xx float8, add column responses_in2ms float8, add column responses_in5ms float8,
  add column responses_in10ms float8, add column responses_in20ms float8, add column responses_in50ms float8,
  add column responses_in100ms float8, add column responses_in200ms float8, add column responses_in500ms float8,
  add column responses_in1s float8, add column responses_in2s float8, add column responses_in5s float8,
  add column responses_in10s float8, add column responses_in30s float8, add column responses_later float8,
  add column response_ms float8;

create or replace view measured as
  select id, id as host_id from hosts
  union all
  select id, host_id from instances
  union all
  select a.id, s.host_id from websocket_applications a join websocket_servers s on s.id = a.server_id
  union all
  select e.id, a.host_id from environments e join applications a on a.id = e.application_id
  union all
  select g.id, a.host_id
  from process_groups g join environments e on e.id = g.environment_id join applications a on a.id = e.application_id
  union all
  select b.id, a.host_id
  from background_processes b join process_groups g on g.id = b.process_group_id
  join environments e on e.id = g.environment_id join applications a on a.id = e.application_id;

create trigger forget_metrics after delete on environments for each row execute function forget_metrics();
