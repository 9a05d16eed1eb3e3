-- Background processes of instances, and the processes of environments that answer no requests.

create table background_processes (
  id text primary key,
  process_group_id text not null references process_groups (id) on delete cascade,
  type text not null check (type in ('worker', 'custom')),
  -- How many of it run beside each replica of its instance.
  processes integer not null check (processes between 1 and 10),
  -- Null for a worker, whose command follows from its options.
  command text,
  -- The options of a worker, as `WorkerConfig` in the code.
  config jsonb not null default '{}',
  -- The name of its line in the Procfile of the release that serves; null for a process of a request.
  procfile_name text,
  created_at timestamptz not null default now(),
  unique (process_group_id, procfile_name)
);

-- Null for a process that answers requests. It outlives the background process itself, as long as a process of it runs.
alter table application_processes add column background_process_id text;
