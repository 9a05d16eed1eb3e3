-- SQL that masks the data of a clone before its owner sees it; a row is deleted as soon as the SQL has run.
create table masks (
  database_id text primary key references databases (id) on delete cascade,
  -- The SQL and the name of its database, sealed for the cluster.
  sealed text not null
);
