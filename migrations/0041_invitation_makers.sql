-- The token that made an invitation, which is withdrawn with it.

alter table invitations add column maker_id text;

create index invitations_maker on invitations (maker_id) where maker_id is not null;

update invitations i set maker_id = a.token_id from audit a
where a.resource_kind = 'invitations' and a.action = 'create' and a.resource_id = i.id and a.token_id is not null;

delete from invitations i using tokens t where i.maker_id = t.id and t.revoked_at is not null;
