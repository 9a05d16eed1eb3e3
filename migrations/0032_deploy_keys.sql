-- The key with which the commits of an application are fetched over SSH.

-- Its public half in OpenSSH's form, and its sealed private half; both null without a repository behind SSH.
alter table applications
  add column deploy_key text,
  add column sealed_deploy_key text,
  add check ((deploy_key is null) = (sealed_deploy_key is null));
