// The attempts to escape from a Postgres, as tables: subject, statement, and the engine's own error. CANARY is a path.

/** A SQLSTATE: the same in each version, or each with the first version that gives it. */
type Code = string | Readonly<Record<number, string>>;

/** The subject of an attempt, its statement, and the error that answers it. */
type Attempt = [what: string, sql: string, code: Code];

const DENIED = "42501";
const NO_SUCH_NAME = "42704";
const NO_SUCH_FUNCTION = "42883";
const NO_SUCH_TABLE = "42P01";
const NO_SUCH_SYNTAX = "42601";
const NOT_INSTALLED = "0A000";
const NO_SUCH_FILE = "58P01";
const NOT_A_ROLE = "22023";

const outOfPostgres: Attempt[] = [
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
  [
    "a dictionary out of a file elsewhere",
    "create text search dictionary d (template = ispell, dictfile = '../../../x')",
    "22023",
  ],
  ["a tablespace elsewhere", "create tablespace t location '/tmp'", DENIED],
  ["a function in C", "create function f() returns int language c as '/lib/x.so', 'f'", DENIED],
  ["an internal function", "create function f() returns int language internal as 'pg_reload_conf'", DENIED],
  ["a library to be loaded", "load '/tmp/x.so'", DENIED],
  ["a library to be loaded by its name", "load 'pg_stat_statements'", DENIED],
  ...["dblink", "postgres_fdw", "file_fdw", "pageinspect", "sslinfo"].map((name): Attempt => [
    `the extension ${name}`,
    `create extension ${name}`,
    DENIED,
  ]),
  ["a template of dictionaries", "create text search template t (lexize = dsimple_lexize)", DENIED],
  [
    "a type of its own making",
    "create type t; create function f(cstring) returns t language internal as 'int4in'",
    DENIED,
  ],
  [
    "a type that others read as they like",
    "create type t as (x int); create cast (t as int) without function",
    DENIED,
  ],
  ["an operator class", "create operator class c for type int using btree as operator 1 <", DENIED],
  ["an access method", "create access method m type table handler heap_tableam_handler", DENIED],
  [
    "a function that sees what row security hides",
    "create function f() returns int language sql leakproof as 'select 1'",
    DENIED,
  ],
  ["a language", "create language plperlu handler plpgsql_call_handler", DENIED],
  ["a foreign data wrapper", "create foreign data wrapper w", DENIED],
  ["a foreign server", "create server s foreign data wrapper postgres_fdw", "42704"],
  ["a foreign table", "create foreign table t (x int) server s", "42704"],
  ["a subscription", "create subscription s connection 'host=127.0.0.1' publication p", DENIED],
  ["a publication of everything", "create publication p for all tables", DENIED],
  ["a physical slot", "select pg_create_physical_replication_slot('s')", DENIED],
  ["a logical slot", "select pg_create_logical_replication_slot('s', 'pgoutput')", DENIED],
  ["an origin of replication", "select pg_replication_origin_create('o')", DENIED],
  ["a point to be restored to", "select pg_create_restore_point('p')", DENIED],
  ["another server's place to be taken", "select pg_promote()", DENIED],
  ["the log of messages to be changed", "select pg_rotate_logfile()", DENIED],
  ["what the memory holds in the log", "select pg_log_backend_memory_contexts(pg_backend_pid())", DENIED],
  ["a checkpoint", "checkpoint", DENIED],
  ["the log to be switched", "select pg_switch_wal()", DENIED],
];

const morePowerInPostgres: Attempt[] = [
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
    "backtrace_functions = 'x'",
    "allow_in_place_tablespaces = on",
    "ignore_checksum_failure = on",
    "lc_messages = 'x'",
  ].map((setting): Attempt => [`SET ${setting}`, `set ${setting}`, DENIED]),
  ["SET of a library at the start", "set shared_preload_libraries = 'x'", "55P02"],
  ["a library for every session", "alter role app set session_preload_libraries = 'x'", DENIED],
  ["a library for a database", "alter database main set session_preload_libraries = 'x'", DENIED],
  ["a setting for all roles", "alter role all set work_mem = '1MB'", DENIED],
  ...["pilvi_admin", "pg_execute_server_program", "pg_read_server_files", "pg_write_server_files"].flatMap(
    (role): Attempt[] => [
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
  ["a setting for the administrator", "alter role pilvi_admin set search_path = main", DENIED],
  ["a setting for the administrator's database", "alter database postgres set search_path = main", DENIED],
  ["the administrator's database", "alter database postgres owner to app", DENIED],
  ["the administrator's database to be dropped", "drop database postgres", DENIED],
  ["what new databases begin as", "alter database template1 owner to app", DENIED],
  ["what new databases begin as to be dropped", "alter database template1 is_template false", DENIED],
  [
    "rights on what the administrator will make",
    "alter default privileges for role pilvi_admin grant all on tables to app",
    DENIED,
  ],
  ["the schema to be the administrator's", "alter schema public owner to pilvi_admin", DENIED],
  ["the statistics of statements to be dropped", "drop extension pg_stat_statements", DENIED],
  ["the statistics of statements to be forgotten", "select pg_stat_statements_reset()", DENIED],
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
  ["objects among the system's", "create table pg_catalog.t (x int)", DENIED],
  [
    "a background process to be ended",
    "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'autovacuum launcher'",
    DENIED,
  ],
];

/** Features that not every version has. Versions without a feature say so in their error. */
const newOrOldInPostgres: Attempt[] = [
  ...(
    [
      ["pg_checkpoint", 15],
      ["pg_create_subscription", 16],
      ["pg_use_reserved_connections", 16],
      ["pg_maintain", 17],
      ["pg_signal_autovacuum_worker", 18],
    ] as const
  ).flatMap(([role, since]): Attempt[] => [
    [`membership of ${role}`, `grant ${role} to app`, { 14: NO_SUCH_NAME, [since]: DENIED }],
    [`SET ROLE ${role}`, `set role ${role}`, { 14: NOT_A_ROLE, [since]: DENIED }],
  ]),
  ...["pltcl", "pltclu", "plperl", "plperlu", "plpython3u", "bool_plperl", "hstore_plpython3u"].map(
    (name): Attempt => [
      `the extension ${name}`,
      `create extension ${name} cascade`,
      { 14: NO_SUCH_FILE, 15: NOT_INSTALLED },
    ],
  ),
  ["the extension adminpack", "create extension adminpack", { 14: DENIED, 17: NOT_INSTALLED }],
  ["the extension old_snapshot", "create extension old_snapshot", { 14: DENIED, 17: NOT_INSTALLED }],
  ["the extension pg_walinspect", "create extension pg_walinspect", { 14: NO_SUCH_FILE, 15: DENIED }],
  [
    "the extension pg_logicalinspect",
    "create extension pg_logicalinspect",
    { 14: NO_SUCH_FILE, 15: NOT_INSTALLED, 18: DENIED },
  ],
  ["the old way to begin a copy", "select pg_start_backup('b')", { 14: DENIED, 15: NO_SUCH_FUNCTION }],
  ["the new way to begin a copy", "select pg_backup_start('b')", { 14: NO_SUCH_FUNCTION, 15: DENIED }],
  ["a note in the log", "select pg_log_standby_snapshot()", { 14: NO_SUCH_FUNCTION, 16: DENIED }],
  [
    "the names of users to be shown",
    "select * from pg_ident_file_mappings",
    { 14: NO_SUCH_TABLE, 15: DENIED },
  ],
  [
    "a publication of a schema",
    "create publication p for tables in schema public",
    { 14: NO_SUCH_SYNTAX, 15: DENIED },
  ],
  [
    "the right to a setting of superusers",
    "grant set on parameter session_preload_libraries to app",
    { 14: NO_SUCH_SYNTAX, 15: DENIED },
  ],
  [
    "the right to a setting of the server",
    "grant alter system on parameter port to app",
    { 14: NO_SUCH_SYNTAX, 15: DENIED },
  ],
];

/** Every attempt that Postgres is to refuse its customer. */
export const postgresAttempts = [...outOfPostgres, ...morePowerInPostgres, ...newOrOldInPostgres];

/** The SQLSTATE of a version. */
export function codeIn(major: number, code: Code): string {
  if (typeof code === "string") return code;
  const since = Object.keys(code)
    .map(Number)
    .filter((first) => first <= major);
  return code[Math.max(...since)] ?? "";
}
