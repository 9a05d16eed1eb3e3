-- The scheduler of an instance: a background process that runs the framework's scheduled work each minute, once for all
-- replicas.

alter table background_processes drop constraint background_processes_type_check;
alter table background_processes add constraint background_processes_type_check
  check (type in ('worker', 'custom', 'scheduler'));

create unique index background_processes_scheduler on background_processes (process_group_id) where type = 'scheduler';
