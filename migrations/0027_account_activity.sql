-- The audit has what happens to accounts as well. Nobody has proved to be the actor of a failed sign-in.

alter table audit drop constraint audit_actor;
alter table audit add constraint audit_actor
  check (num_nonnulls(token_id, user_id) = case action when 'fail-sign-in' then 0 else 1 end) not valid;
