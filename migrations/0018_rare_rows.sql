-- A list of few rows among very many, as those with a rare status, reads these rows and no segments: they may stand in
-- as many segments as they are.

alter procedure keep_counts(text, regclass) rename to keep_segments;

-- Gives a kind's table the function page_of_TABLE, and the index by which that finds few rows.
create procedure find_pages(resource_kind text, resources regclass) language plpgsql as $$
begin
  execute format('create index on %s (organization_id, type, region, status, segment, id)', resources);
  -- Postgres plans the statements of this function once, since planning them takes longer than running them; no plan may
  -- read a whole table because that was small then. A null filter lets all rows through. The page is found among blocks
  -- of segments, then among the segments of a block; a page of few rows in several blocks is read through their own
  -- index. An empty page is one row without an id, for the total.
  execute format($function$
    create or replace function page_of_%2$s(
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
      if found_total <= 128 and cardinality(page_blocks) > 1 then
        -- The limit keeps the plan from joining whole tables; no combination has more rows than are found.
        return query
          select found_total, (row_number() over (order by segment, id))::integer, id
          from (
            select rare.segment, rare.id
            from (
              select distinct type, region, status from resource_counts
              where organization_id = organization and kind = %1$L and level = 1
                and (types is null or type = any(types)) and (regions is null or region = any(regions))
                and (statuses is null or status = any(statuses))) combinations
            cross join lateral (
              select r.segment, r.id from %2$s r
              where r.organization_id = organization and r.type = combinations.type
                and r.region = combinations.region and r.status = combinations.status
              limit 128) rare
            order by rare.segment, rare.id limit page_size offset first_row) page;
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

-- Gives a kind's table, which has the columns id, organization_id, type, region and status, its segments, its counts, and
-- the function page_of_TABLE.
create procedure keep_counts(resource_kind text, resources regclass) language plpgsql as $$
begin
  call keep_segments(resource_kind, resources);
  call find_pages(resource_kind, resources);
end
$$;

-- The argument of a trigger ends with a zero byte.
do $$
declare
  counted record;
begin
  for counted in
    select convert_from(rtrim(tgargs, '\x00'), 'utf8') as kind, tgrelid::regclass as resources
    from pg_trigger where tgname = 'choose_segment'
  loop
    call find_pages(counted.kind, counted.resources);
  end loop;
end
$$;
