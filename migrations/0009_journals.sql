-- How far the journal of each host has been taken into the events, in the transaction that adds them.

create table host_journals (
  host_id text primary key references hosts (id),
  taken bigint not null default 0
);
