-- The audit as a list of its organization: where each request came from, and lookups for each filter.

alter table audit add column address text not null default '';

create index audit_time on audit (organization_id, at, id);
create index audit_action on audit (organization_id, action, at, id);
create index audit_kind on audit (organization_id, resource_kind, at, id);
drop index audit_resource;
create index audit_resource on audit (resource_id, at, id);
