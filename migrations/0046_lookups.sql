-- Lookups that read no more rows than they find, however many there are.

-- The tokens of an organization that are not revoked, which are few.
create index tokens_live on tokens (organization_id, id) where revoked_at is null;
-- For the deletion of an organization.
create index tokens_organization on tokens (organization_id);
-- Tokens that ended long ago are deleted. Those of the operator stay.
create index tokens_ended on tokens (least(revoked_at, expires_at)) where user_id is not null or maker_id is not null;
