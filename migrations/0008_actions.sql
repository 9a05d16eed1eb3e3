-- What is done to a resource at a request and takes long, such as a suspend. It outlives the request and any process.

create table actions (
  id text primary key,
  type text not null check (type in ('suspend')),
  resource_id text not null,
  host_id text not null references hosts (id),
  state text not null default 'pending' check (state in ('pending', 'running', 'done', 'failed')),
  -- The token of the request that began it.
  requested_by text not null,
  requested_at timestamptz not null default now(),
  deadline_at timestamptz not null,
  ended_at timestamptz,
  -- Why it failed: a word for the program and a sentence for the customer.
  failure text check (failure in ('refused', 'late', 'unreachable')),
  error text
);

-- The same request made again joins the action that is under way.
create unique index actions_open on actions (resource_id, type) where ended_at is null;
create index actions_resource on actions (resource_id);
