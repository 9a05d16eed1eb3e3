-- What hosts have measured of each instance: by minute for 25 hours, by five minutes for 8 days, by hour for 32 days, by day for
-- as long as the resource exists.

-- A row has an instance's figures in a stretch of time. Sums are of all of it, means are over its minutes. A stretch in which
-- the engine had no process has no row. The host itself has rows too, with nothing but its minutes: a stretch without a row of
-- the host was not measured.
create table metrics_minutes (
  resource_id text not null,
  at timestamptz not null,
  minutes int not null,
  awake_ms float8,
  compute_ms float8,
  cpu_ms float8,
  memory_bytes float8,
  storage_bytes float8,
  wakes float8,
  commits float8,
  rollbacks float8,
  rows_written float8,
  blocks_hit float8,
  blocks_read float8,
  deadlocks float8,
  wal_bytes float8,
  hits float8,
  misses float8,
  evicted_keys float8,
  expired_keys float8,
  commands float8,
  network_in_bytes float8,
  network_out_bytes float8,
  connections float8,
  active_connections float8,
  idle_connections float8,
  idle_in_transaction_connections float8,
  blocked_connections float8,
  keys float8,
  data_bytes float8,
  primary key (resource_id, at)
) partition by range (at);

-- Rows come in the order of time, so a small index finds those of a stretch.
create index metrics_minutes_at on metrics_minutes using brin (at) with (pages_per_range = 16);

-- Partitions are days, which `keepPartitions` adds and drops.
create table metrics_fives (like metrics_minutes including all) partition by range (at);
create table metrics_hours (like metrics_minutes including all);
create table metrics_days (like metrics_minutes including all);

-- Up to when each table has everything that the table before it has, in the transaction that adds it.
create table metrics_rolled (
  level text primary key,
  until timestamptz not null
);
