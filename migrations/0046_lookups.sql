-- Lookups that read no more rows than they find, however many there are.

-- The tokens of an organization that are not revoked, which are few.
create index tokens_live on tokens (organization_id, id) where revoked_at is null;
-- For the deletion of an organization.
create index tokens_organization on tokens (organization_id);
-- Tokens that ended long ago are deleted. Those of the operator stay.
create index tokens_ended on tokens (least(revoked_at, expires_at)) where user_id is not null or maker_id is not null;

-- Entries of each action on each kind, of an organization and of a resource, so that no combination of filters reads
-- others. What a filter leaves open is found by steps through the index.
drop index audit_action;
drop index audit_kind;
create index audit_kind on audit (organization_id, resource_kind, action, at, id);
drop index audit_resource;
create index audit_resource on audit (resource_id, resource_kind, action, at, id);
drop index events_resource;
create index events_resource on events (resource_id, type, at, id);
