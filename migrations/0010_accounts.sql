-- People: their accounts, passkeys, sessions and one-time links, and the organizations that they are members of.

create table users (
  id text primary key,
  -- In lower case, so that it is unique however it is typed.
  email text not null unique,
  name text not null,
  -- Argon2id.
  password_hash text not null,
  created_at timestamptz not null default now()
);

create table passkeys (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  name text not null,
  credential_id text not null unique,
  public_key bytea not null,
  -- How often the authenticator has signed; a lower number than before tells of a copy.
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);

create index passkeys_user on passkeys (user_id, id);

-- A challenge carries its own expiry and signature. The table keeps used challenges until they expire.
create table used_challenges (
  challenge_hash text primary key,
  expires_at timestamptz not null
);

create table members (
  id text primary key,
  organization_id text not null references organizations (id),
  user_id text not null references users (id) on delete cascade,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  created_at timestamptz not null default now(),
  unique (organization_id, user_id)
);

create index members_user on members (user_id);

-- Only the hash of a session's secret is kept. The row goes when the session ends.
create table sessions (
  id text primary key,
  secret_hash text not null unique,
  user_id text not null references users (id) on delete cascade,
  -- What the session works on at the moment; null for a user without an organization.
  organization_id text references organizations (id),
  address text not null,
  user_agent text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index sessions_user on sessions (user_id, id);

create table invitations (
  id text primary key,
  organization_id text not null references organizations (id),
  secret_hash text not null unique,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  -- The only address that may accept it; null for any.
  email text,
  invited_by text references users (id) on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index invitations_organization on invitations (organization_id, id);

-- One-time links that the operator makes. The row goes when the link is used.
create table sign_in_links (
  id text primary key,
  secret_hash text not null unique,
  -- Whose password it sets; null for the link that makes the first account.
  user_id text references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

-- The operator's organization, under whatever name.
alter table organizations add column is_default boolean not null default false;
update organizations set is_default = true where name = 'default';
create unique index organizations_default on organizations (is_default) where is_default;

-- Whose token it is; null for a token that the operator or another token made.
alter table tokens add column user_id text references users (id) on delete set null;

-- A request was made by a token or by a user.
alter table audit add column user_id text;
alter table audit add constraint audit_actor check (num_nonnulls(token_id, user_id) = 1) not valid;
