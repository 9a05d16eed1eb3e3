-- To delete a row looks for rows that refer to it. Without an index that was a look at all rows of the other table, for
-- each deleted row: an environment with many deployments took hours.
create index deployments_release_of on deployments (release_of) where release_of is not null;

create index deployments_initiator on deployments (initiator_id) where initiator_id is not null;

create index application_processes_deployment on application_processes (deployment_id);

create index commands_deployment on commands (deployment_id);

create index commands_initiator on commands (initiator_id) where initiator_id is not null;

create index allocations_organization on allocations (organization_id);

create index snapshots_organization on snapshots (organization_id);

create index sessions_organization on sessions (organization_id);

create index sign_in_links_user on sign_in_links (user_id);

create index invitations_inviter on invitations (invited_by);

create index tokens_user on tokens (user_id) where user_id is not null;
