// The attempts to escape from a MySQL, as a table: subject, statement, and the engine's own error. CANARY is a path.

/** The subject of an attempt, its statement, and the error number that answers it. */
type Attempt = [what: string, sql: string, errno: number];

/** Every attempt that MySQL is to refuse its customer. */
export const mysqlAttempts: Attempt[] = [
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
