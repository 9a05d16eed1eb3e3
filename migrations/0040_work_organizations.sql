-- The organization that work is done for, so that one organization cannot have all runs of the loop. Null for work that
-- counts for no organization: that of a kind whose runs are short, and that of a host.
alter table work add column organization_id text;

create function organization_of_work(kind text, id text) returns text language sql stable as $$
  select case $1
    when 'caches' then (select c.organization_id from caches c where c.id = $2)
    when 'databases' then (select d.organization_id from databases d where d.id = $2)
    when 'refreshes' then (select d.organization_id from databases d where d.id = $2)
    when 'replicas' then (select d.organization_id from databases d where d.id = $2)
    when 'websockets' then (select w.organization_id from websocket_servers w where w.id = $2)
    when 'snapshots' then (select s.organization_id from snapshots s where s.id = $2)
    when 'actions' then (
      select coalesce(c.organization_id, d.organization_id, w.organization_id) from actions a
      left join caches c on c.id = a.resource_id left join databases d on d.id = a.resource_id
      left join websocket_servers w on w.id = a.resource_id where a.id = $2)
    when 'applications' then (select a.organization_id from applications a where a.id = $2)
    when 'environments' then (
      select a.organization_id from environments e join applications a on a.id = e.application_id where e.id = $2)
    when 'deployments' then (
      select a.organization_id from deployments d join environments e on e.id = d.environment_id
      join applications a on a.id = e.application_id where d.id = $2)
    when 'commands' then (
      select a.organization_id from commands c join environments e on e.id = c.environment_id
      join applications a on a.id = e.application_id where c.id = $2)
  end
$$;

create function set_organization_of_work() returns trigger language plpgsql as $$
begin
  new.organization_id := coalesce(new.organization_id, organization_of_work(new.kind, new.id));
  return new;
end
$$;

-- Its resource was written before it, in the same transaction.
create trigger organization_of_work before insert on work for each row execute function set_organization_of_work();

update work set organization_id = organization_of_work(kind, id);
