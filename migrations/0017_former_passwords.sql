-- The password that a rotation with a grace period has replaced, and when it ends to be valid:
-- {"sealed": …, "expiresAt": …}; null without such a password.
alter table caches add column former_password jsonb;
alter table databases add column former_password jsonb;
