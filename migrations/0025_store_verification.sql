-- Verified restores of the store itself, which belongs to no organization.

create table store_verification (
  is_only boolean primary key default true check (is_only),
  -- When the next restore is to be verified.
  verify_at timestamptz not null,
  -- The latest verified restore, and the latest in which no fault was found.
  latest jsonb,
  sound jsonb,
  -- Why the latest attempt ended without a result; null when it had one.
  error text
);
