-- Commands that somebody runs once in the release of an environment.

create table commands (
  id text primary key,
  environment_id text not null references environments (id),
  -- The deployment whose release it runs in.
  deployment_id text not null references deployments (id),
  command text not null,
  status text not null default 'pending'
    check (status in ('pending', 'command.created', 'command.running', 'command.success', 'command.failure')),
  -- Whether somebody has asked for its end.
  is_cancelled boolean not null default false,
  exit_code integer,
  failure_reason text,
  -- The end of its output, without the values of secrets; null before its end. The host has the whole.
  output text,
  is_output_cut boolean not null default false,
  -- The user that began it; null for a token.
  initiator_id text references users (id) on delete set null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);

create index commands_environment on commands (environment_id, id);

create index commands_open on commands (environment_id) where finished_at is null;
