-- Whether a command has a terminal, which one client opens; its output is not kept then.
alter table commands add column has_terminal boolean not null default false;
