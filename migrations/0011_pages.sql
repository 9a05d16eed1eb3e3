-- Smaller segments, an index in the order of lists, and a function that finds a page: a list is one statement, whose
-- plan Postgres makes once for each connection.

create or replace function choose_segment() returns trigger language plpgsql as $$
declare
  resource_kind constant text := tg_argv[0];
  segment_size constant integer := 128;
  last_segment constant integer := (
    select max(block) from resource_counts
    where organization_id = new.organization_id and kind = resource_kind and level = 0);
begin
  new.segment := coalesce(last_segment, 0);
  if segment_size <= (
    select sum(resources) from resource_counts
    where organization_id = new.organization_id and kind = resource_kind and level = 0 and block = last_segment
  ) then
    new.segment := last_segment + 1;
  end if;
  return new;
end
$$;

create or replace function count_resource() returns trigger language plpgsql as $$
declare
  resource_kind constant text := tg_argv[0];
begin
  insert into resource_counts as c (organization_id, kind, level, block, type, region, status, resources)
  select organization_id, resource_kind, level, segment / segments, type, region, status, change
  from (values
    (old.organization_id, old.segment, old.type, old.region, old.status, -1),
    (new.organization_id, new.segment, new.type, new.region, new.status, 1)
  ) as changes (organization_id, segment, type, region, status, change)
  cross join (values (0, 1), (1, 32)) as levels (level, segments)
  where organization_id is not null
  order by organization_id, level, segment / segments, type, region, status
  on conflict (organization_id, kind, level, block, type, region, status) do update
  set resources = c.resources + excluded.resources;
  delete from resource_counts
  where organization_id = old.organization_id and kind = resource_kind
    and (level, block) in ((0, old.segment), (1, old.segment / 32))
    and type = old.type and region = old.region and status = old.status and resources = 0;
  return null;
end
$$;

-- Gives a kind's table, which has the columns id, organization_id, type, region and status, its segments, its counts, and
-- the function page_of_TABLE. Segments of an earlier size are divided, so that the order of lists stays.
create or replace procedure keep_counts(resource_kind text, resources regclass) language plpgsql as $$
begin
  execute format('drop trigger if exists choose_segment on %s', resources);
  execute format('drop trigger if exists count_resource on %s', resources);
  execute format('drop trigger if exists recount_resource on %s', resources);
  execute format('alter table %s add column if not exists segment integer not null default 0', resources);
  execute format(
    'update %1$s r set segment = placed.segment
     from (
       select id, dense_rank() over (partition by organization_id order by segment, part) - 1 as segment
       from (
         select id, organization_id, segment,
           (row_number() over (partition by organization_id, segment order by id) - 1) / 128 as part
         from %1$s) parts
     ) placed
     where placed.id = r.id and placed.segment <> r.segment', resources);
  delete from resource_counts where kind = resource_kind;
  execute format(
    'insert into resource_counts (organization_id, kind, level, block, type, region, status, resources)
     select organization_id, %L, level, segment / segments, type, region, status, count(*)
     from %s cross join (values (0, 1), (1, 32)) as levels (level, segments)
     group by organization_id, level, segment / segments, type, region, status', resource_kind, resources);
  execute format('create index on %s (organization_id, segment, id) include (type, region, status)', resources);
  execute format(
    'create trigger choose_segment before insert on %s for each row execute function choose_segment(%L)',
    resources, resource_kind);
  execute format(
    'create constraint trigger count_resource after insert or delete on %s deferrable initially deferred
     for each row execute function count_resource(%L)', resources, resource_kind);
  execute format(
    'create constraint trigger recount_resource after update on %s deferrable initially deferred for each row
     when ((old.organization_id, old.segment, old.type, old.region, old.status)
       is distinct from (new.organization_id, new.segment, new.type, new.region, new.status))
     execute function count_resource(%L)', resources, resource_kind);
  -- Postgres plans the statements of this function once, since planning them takes longer than running them; no plan may
  -- read a whole table because that was small then. A null filter lets all rows through. The page is found among blocks
  -- of segments, then among the segments of a block. An empty page is one row without an id, for the total.
  execute format($function$
    create function page_of_%2$s(
      organization text, types text[], regions text[], statuses text[], first_row bigint, page_size integer
    ) returns table (total integer, place integer, resource_id text) language plpgsql stable
    set plan_cache_mode = force_generic_plan set enable_seqscan = off as $body$
    declare
      found_total integer;
      page_blocks integer[];
      page_block integer;
      page_segments integer[];
      reached_total bigint;
      skipped_total bigint;
    begin
      select coalesce(max(reached), 0), array_agg(block order by block) filter (where is_on_page),
        min(skipped) filter (where is_on_page)
      into found_total, page_blocks, reached_total
      from (
        select block, reached, reached - resources as skipped,
          reached > first_row and reached - resources < first_row + page_size as is_on_page
        from (
          select block, resources, sum(resources) over (order by block rows unbounded preceding) as reached
          from (
            select block, sum(resources)::integer as resources from resource_counts
            where organization_id = organization and kind = %1$L and level = 1
              and (types is null or type = any(types)) and (regions is null or region = any(regions))
              and (statuses is null or status = any(statuses))
            group by block) counted) summed) blocks;
      if page_blocks is null then
        return query select found_total, 0, null::text;
        return;
      end if;
      -- Block by block, since blocks between them may have no resource of the page.
      foreach page_block in array page_blocks loop
        select max(reached), page_segments || array_agg(block) filter (where is_on_page),
          coalesce(skipped_total, min(skipped) filter (where is_on_page))
        into reached_total, page_segments, skipped_total
        from (
          select block, reached, reached - resources as skipped,
            reached > first_row and reached - resources < first_row + page_size as is_on_page
          from (
            select block, resources,
              reached_total + sum(resources) over (order by block rows unbounded preceding) as reached
            from (
              select block, sum(resources)::integer as resources from resource_counts
              where organization_id = organization and kind = %1$L and level = 0
                and block between page_block * 32 and page_block * 32 + 31
                and (types is null or type = any(types)) and (regions is null or region = any(regions))
                and (statuses is null or status = any(statuses))
              group by block) counted) summed) segments;
      end loop;
      return query
        select found_total, (row_number() over (order by segment, id))::integer, id
        from (
          select segment, id from %2$s
          where organization_id = organization and segment = any(page_segments)
            and (types is null or type = any(types)) and (regions is null or region = any(regions))
            and (statuses is null or status = any(statuses))
          order by segment, id limit page_size offset first_row - skipped_total) page;
    end
    $body$
  $function$, resource_kind, resources);
end
$$;

do $$
declare
  former regclass;
begin
  for former in
    select indexrelid from pg_index
    where indrelid in ('caches'::regclass, 'databases'::regclass, 'websocket_servers'::regclass)
      and pg_get_indexdef(indexrelid) like '%(organization_id, segment, type, region, status, id)'
  loop
    execute format('drop index %s', former);
  end loop;
end
$$;

call keep_counts('caches', 'caches');
call keep_counts('databases', 'databases');
call keep_counts('websockets', 'websocket_servers');
