-- Verified restores of archives, and alarms about logs that lag behind.

alter table archives
  -- When the next restore is to be verified; null until there is something to verify.
  add column verify_at timestamptz,
  -- The latest verified restore, and the latest in which no fault was found.
  add column verification jsonb,
  add column verified jsonb,
  -- Why the latest attempt ended without a result; null when it had one.
  add column verification_error text,
  -- When one of these three was written last.
  add column verification_at timestamptz,
  -- Since when its log has lagged behind for too long; null while it does not.
  add column lagging_since timestamptz;

create index archives_verify on archives (host_id, verify_at) where deleted_at is null;
create index archives_verification on archives (host_id, verification_at) where verification_at is not null;
create index archives_lagging on archives (host_id) where lagging_since is not null;
