-- The disk of each instance: a database cluster takes that of its replicas as well.

-- As the host measured it last. The storage of a resource is the sum of its instances, which the writers keep.
alter table instances add column storage_bytes bigint not null default 0;

-- So far a resource had the storage of the instance with its own id alone.
update instances i set storage_bytes = a.storage_bytes from allocations a where a.resource_id = i.id;
