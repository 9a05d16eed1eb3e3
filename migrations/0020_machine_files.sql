-- Files of the data directory that a new machine needs besides the key file, which they are sealed with.

create table machine_files (
  host_id text not null references hosts (id),
  -- The path below the data directory.
  path text not null,
  sealed text not null,
  primary key (host_id, path)
);
