// The attempts to get out of a cluster, as tables: what is tried, how, and the engine's own error. CANARY is a path.

/** What is tried, in which words, and the SQLSTATE that answers it. */
type PostgresAttempt = [what: string, sql: string, code: string];

/** What is tried, in which words, and the error number that answers it. */
type MysqlAttempt = [what: string, sql: string, errno: number];

const DENIED = "42501";

const outOfPostgres: PostgresAttempt[] = [
  ["a program fed by COPY", "copy (select 1) to program 'touch CANARY'", DENIED],
  ["a program read by COPY", "copy pg_class from program 'touch CANARY'", DENIED],
  ["COPY to a file", "copy (select 1) to 'CANARY'", DENIED],
  ["COPY from a file", "create temp table t (x text); copy t from '/etc/passwd'", DENIED],
  ["a file of the machine to be read", "select pg_read_file('/etc/passwd')", DENIED],
  ["a file of the cluster to be read", "select pg_read_file('PG_VERSION')", DENIED],
  ["a file to be read as bytes", "select pg_read_binary_file('PG_VERSION')", DENIED],
  ["a folder to be listed", "select pg_ls_dir('.')", DENIED],
  ["a file to be looked at", "select pg_stat_file('PG_VERSION')", DENIED],
  ["a large object from a file", "select lo_import('/etc/passwd')", DENIED],
  ["a large object to a file", "select lo_export(lo_from_bytea(0, 'x'), 'CANARY')", DENIED],
  ["a tablespace elsewhere", "create tablespace t location '/tmp'", DENIED],
  ["a function in C", "create function f() returns int language c as '/lib/x.so', 'f'", DENIED],
  ["an internal function", "create function f() returns int language internal as 'pg_reload_conf'", DENIED],
  ["a library to be loaded", "load '/tmp/x.so'", DENIED],
  ["a library to be loaded by its name", "load 'pg_stat_statements'", DENIED],
  ...["plperlu", "plpython3u", "pltclu", "dblink", "postgres_fdw", "file_fdw", "pageinspect", "sslinfo"].map(
    (name): PostgresAttempt => [`the extension ${name}`, `create extension ${name}`, DENIED],
  ),
  ["a language", "create language plperlu handler plpgsql_call_handler", DENIED],
  ["a foreign data wrapper", "create foreign data wrapper w", DENIED],
  ["a foreign server", "create server s foreign data wrapper postgres_fdw", "42704"],
  ["a foreign table", "create foreign table t (x int) server s", "42704"],
  ["a subscription", "create subscription s connection 'host=127.0.0.1' publication p", DENIED],
  ["a publication of everything", "create publication p for all tables", DENIED],
  ["a physical slot", "select pg_create_physical_replication_slot('s')", DENIED],
  ["a logical slot", "select pg_create_logical_replication_slot('s', 'pgoutput')", DENIED],
  ["the log to be switched", "select pg_switch_wal()", DENIED],
];

const morePowerInPostgres: PostgresAttempt[] = [
  ["a setting of the server", "alter system set port = 1", DENIED],
  ["the configuration to be read anew", "select pg_reload_conf()", DENIED],
  ["the access rules to be shown", "select * from pg_hba_file_rules", DENIED],
  ["the configuration files to be shown", "select * from pg_file_settings", DENIED],
  ...[
    "session_preload_libraries = 'x'",
    "dynamic_library_path = '/tmp'",
    "zero_damaged_pages = on",
    "allow_system_table_mods = on",
    "session_replication_role = 'replica'",
    "log_statement = 'all'",
  ].map((setting): PostgresAttempt => [`SET ${setting}`, `set ${setting}`, DENIED]),
  ["SET of a library at the start", "set shared_preload_libraries = 'x'", "55P02"],
  ["a library for every session", "alter role app set session_preload_libraries = 'x'", DENIED],
  ["a library for a database", "alter database main set session_preload_libraries = 'x'", DENIED],
  ["a setting for all roles", "alter role all set work_mem = '1MB'", DENIED],
  ...["pilvi_admin", "pg_execute_server_program", "pg_read_server_files", "pg_write_server_files"].flatMap(
    (role): PostgresAttempt[] => [
      [`membership of ${role}`, `grant ${role} to app`, DENIED],
      [`SET ROLE ${role}`, `set role ${role}`, DENIED],
      [`a new role in ${role}`, `create role mallory in role ${role}`, DENIED],
      [
        `${role} by a role that may create roles`,
        `create role mallory createrole; grant mallory to app; set role mallory; grant ${role} to mallory`,
        DENIED,
      ],
    ],
  ),
  ["SET SESSION AUTHORIZATION", "set session authorization pilvi_admin", DENIED],
  ["itself to become a superuser", "alter role app superuser", DENIED],
  ["a new superuser", "create role mallory superuser", DENIED],
  ["a new role for replication", "create role mallory replication", DENIED],
  ["a new role above row security", "create role mallory bypassrls", DENIED],
  ["a password for the administrator", "alter role pilvi_admin password 'x'", DENIED],
  ["another name for the administrator", "alter role pilvi_admin rename to mallory", DENIED],
  ["the administrator to be dropped", "drop role pilvi_admin", DENIED],
  ["what the administrator owns", "reassign owned by pilvi_admin to app", DENIED],
  [
    "a function to the administrator",
    "create function f() returns int language sql security definer as 'select 1'; alter function f() owner to pilvi_admin",
    DENIED,
  ],
  ["the right to read files", "grant execute on function pg_read_file(text) to app", DENIED],
  ["the system's tables to be changed", "update pg_authid set rolsuper = true", DENIED],
  ["the passwords to be shown", "select rolpassword from pg_authid", DENIED],
  ["the passwords to be copied", "copy pg_authid to stdout", DENIED],
  [
    "an event trigger",
    "create function f() returns event_trigger language plpgsql as 'begin end'; create event trigger e on ddl_command_start execute function f()",
    DENIED,
  ],
  ["objects in the administrator's database", "create table pg_catalog.t (x int)", DENIED],
  [
    "a background process to be ended",
    "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'autovacuum launcher'",
    DENIED,
  ],
];

/** Everything that Postgres is to refuse its customer. */
export const postgresAttempts = [...outOfPostgres, ...morePowerInPostgres];

/** Everything that MySQL is to refuse its customer. */
export const mysqlAttempts: MysqlAttempt[] = [
  ["a file written by a query", "select 1 into outfile 'CANARY'", 1227],
  ["a dump written by a query", "select 1 into dumpfile 'CANARY'", 1227],
  ["a file of the machine to be loaded", "load data infile '/etc/passwd' into table main.t", 1045],
  ["a global setting", "set global max_connections = 1", 1227],
  ["the general log into a file", "set global general_log_file = 'CANARY'", 1227],
  ["the folder for files to be changed", "set global secure_file_priv = ''", 1238],
  ["its session to be unlogged", "set session sql_log_bin = 0", 1227],
  ["a plugin", "install plugin x soname 'x.so'", 1142],
  ["a library of plugins", "install soname 'ha_federatedx'", 1142],
  ["a function out of a library", "create function f returns string soname 'x.so'", 1044],
  ["a foreign server", "create server s foreign data wrapper mysql options (host '127.0.0.1')", 1227],
  ["the users' passwords to be shown", "select * from mysql.global_priv", 1142],
  ["the users' rights to be changed", "update mysql.global_priv set priv = '{}'", 1142],
  ["a table among the system's", "create table mysql.t (id int)", 1142],
  ["a right for itself", "grant file on *.* to app", 1045],
  ["a right for another", "grant select on main.* to app@localhost", 1044],
  ["a role", "create role r", 1227],
  ["a new user", "create user mallory identified by 'x'", 1227],
  ["a password for the administrator", "set password for root@localhost = password('x')", 1044],
  ["another user to be changed", "alter user root@localhost identified by 'x'", 1227],
  ["another user to be dropped", "drop user root@localhost", 1227],
  ["the server to be shut down", "shutdown", 1227],
  ["another server to follow", "change master to master_host = '127.0.0.1'", 1227],
  ["to follow", "start slave", 1227],
  ["the logs to be reset", "reset master", 1227],
  ["the rights to be read anew", "flush privileges", 1227],
  ["the tables to be locked for all", "flush tables with read lock", 1227],
  [
    "a procedure in the administrator's name",
    "create definer=root@localhost procedure main.p() select 1",
    1227,
  ],
  ["a view in the administrator's name", "create definer=root@localhost view main.v as select 1", 1227],
  [
    "an event in the administrator's name",
    "create definer=root@localhost event main.e on schedule every 1 hour do set @x = 1",
    1227,
  ],
  ["a database that was not ordered", "create database other", 1044],
  ["a database whose name fits the pattern of its own", "select * from axb.t", 1142],
  ["a table in such a database", "create table axb.u (id int)", 1142],
  ["such a database to be dropped", "drop database axb", 1044],
  [
    "a table of another server",
    "create table main.t (id int) engine=federated connection='mysql://root@127.0.0.1/mysql/user'",
    1286,
  ],
];
