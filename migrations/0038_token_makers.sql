-- The token that made a token, which is revoked with it. A token of a token has the user of its maker.

alter table tokens add column maker_id text;

create index tokens_maker on tokens (maker_id) where maker_id is not null;

update tokens t set maker_id = a.token_id from audit a
where a.resource_kind = 'tokens' and a.action = 'create' and a.resource_id = t.id and a.token_id is not null;

with recursive made as (
  select id, user_id from tokens where user_id is not null
  union select t.id, m.user_id from tokens t join made m on t.maker_id = m.id)
update tokens t set user_id = m.user_id from made m where t.id = m.id and t.user_id is null;
