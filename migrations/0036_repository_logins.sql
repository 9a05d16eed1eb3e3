-- The login with which the commits of an application are fetched over HTTPS.

-- The user name, and the sealed password or token; both null where nothing was given.
alter table applications
  add column repository_username text,
  add column sealed_repository_password text,
  add check ((repository_username is null) = (sealed_repository_password is null));
