-- The latest refresh of a clone: the data that takes the place of its own, and how far that is.
alter table databases add column refresh jsonb;
