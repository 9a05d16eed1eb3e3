-- Organizations that stem from the same one share its quotas.

alter table organizations
  -- The first organization of the family, which may be deleted by now; null for a first one.
  add column origin_id text,
  add column family_id text not null generated always as (coalesce(origin_id, id)) stored;

create index organizations_family on organizations (family_id);

-- The sums of a family are those of its first organization. It always comes before the tokens, so that no two transactions
-- wait for each other.
create or replace function count_allocation() returns trigger language plpgsql as $$
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
  perform add_usage(o.family_id, resource_kind, is_new - was_there,
    memory - former_memory, storage - former_storage, clients - former_clients)
  from organizations o where o.id = coalesce(new.organization_id, old.organization_id);
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
