-- When the host first refused the backup of a snapshot: a large backup may run long before it is refused, so the time of
-- its tries counts from here.
alter table snapshots add column failing_since timestamptz;
