-- A removal and the intake of readings lock rows of metrics in different orders, so each waits for the other as a whole: the
-- intake holds this lock alone, and any number of removals share it.
create or replace function forget_metrics() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7458006);
  delete from metrics_hours where resource_id = old.id;
  delete from metrics_days where resource_id = old.id;
  return null;
end
$$;
