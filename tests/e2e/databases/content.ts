// The content of customers' databases, for tests that restore it elsewhere: statements that create it, and queries that
// show it all.

const UNICODE = "moi 🐻‍❄️ Ñandú 東京";
const AWKWARD = `\\N\t"quoted" and 'quoted'\r\n\\.\n$$ ; -- %s`;

const MEGABYTE = 1024 ** 2;

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("hex");

/** Statements that fill a database of any Postgres. */
export const postgresContent: string[] = [
  "create extension hstore; create schema sales; comment on schema sales is 'Myynti'",
  "create type sales.state as enum ('new', 'paid')",
  "create domain sales.amount as numeric(12, 2) check (value >= 0)",
  "create sequence sales.numbers start 41 increment 7 cycle maxvalue 9000",
  `create table sales.customers (
    id int generated always as identity primary key, name text not null unique, tags hstore, seen timestamptz)`,
  `create table sales.orders (
    id int primary key default nextval('sales.numbers'),
    customer int references sales.customers on delete cascade deferrable initially deferred,
    state sales.state not null default 'new', total sales.amount, twice numeric generated always as (total * 2) stored,
    parts int[], note jsonb, exclude using gist (int4range(id, id, '[]') with &&))`,
  "create index on sales.orders using gin (note); create index chosen on sales.orders (lower(note ->> 'a')) where total > 1",
  "create table public.files (id serial primary key, name text, content bytea)",
  "create table events (at date not null, what text) partition by range (at)",
  "create table events_old partition of events for values from (minvalue) to ('2020-01-01')",
  "create table events_new partition of events default",
  `create table "Größe ""x""" ("a b" float8, "select" interval)`,
  "create function sales.total_of(int) returns numeric stable as 'select sum(total) from sales.orders where customer = $1' language sql",
  "create procedure sales.pay(number int) language plpgsql as $$ begin update sales.orders set state = 'paid' where id = number; end $$",
  "create function sales.stamp() returns trigger language plpgsql as $$ begin new.note = coalesce(new.note, '{}'); return new; end $$",
  "create trigger stamp before insert on sales.orders for each row execute function sales.stamp()",
  "create aggregate sales.product (numeric) (sfunc = numeric_mul, stype = numeric, initcond = 1)",
  "create view sales.totals with (security_barrier) as select name, sales.total_of(id) as total from sales.customers",
  "create view statements as select count(*) > 0 as has_some from pg_stat_statements",
  "alter table sales.customers enable row level security; create policy own on sales.customers using (name = current_user)",
  "grant usage on schema sales to public; grant select (name) on sales.customers to public; revoke execute on function sales.total_of from public",
  "alter default privileges in schema sales grant select on tables to public",
  `insert into sales.customers (name, tags, seen) values
    ('${UNICODE}', 'a=>1, b=>null', '2024-02-29 23:59:59.123456+02'), ('', null, 'infinity')`,
  "insert into sales.orders (customer, total, parts, note) values (1, 10.5, '{1,null,3}', '{\"a\": [\"ä\", null]}'), (2, 0, null, null)",
  "call sales.pay(41)",
  `insert into files (name, content) values ('${UNICODE}', '\\x${EVERY_BYTE}'), (E'${escaped(AWKWARD)}', null), ('', '')`,
  `insert into files (name, content) values (repeat('ä', ${MEGABYTE / 2}), decode(repeat('00', ${MEGABYTE}), 'hex'))`,
  "insert into events values ('1999-12-31', 'old'), ('2024-01-01', null)",
  `insert into "Größe ""x""" values ('nan', '1 mon -2 days'), (0.1, null), ('-infinity', '0')`,
  "create materialized view sales.known as select count(*) as n from sales.customers",
  `select lo_from_bytea(4711, '\\x${EVERY_BYTE}')`,
];

const POSTGRES_OWN = "('sales'::regnamespace, 'public'::regnamespace)";

/** Queries with the same results in each version of Postgres. */
export const postgresQuestions: string[] = [
  "select * from sales.customers order by id",
  "select * from sales.orders order by id",
  "select id, md5(name), length(name), md5(content), length(content) from files order by id",
  "select tableoid::regclass::text, * from events order by at",
  `select * from "Größe ""x""" order by 1`,
  "select * from sales.totals order by name",
  "select * from sales.known",
  "select * from statements",
  "select last_value, is_called from sales.numbers",
  "select last_value, is_called from sales.customers_id_seq",
  "select md5(lo_get(4711)), sales.product(n) from generate_series(1, 5) n",
  `select relkind, relname, relowner::regrole::text from pg_class where relnamespace in ${POSTGRES_OWN} and relkind <> 't' order by 1, 2`,
  `select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace in ${POSTGRES_OWN} and contype <> 'n' order by 1, 2`,
  "select pg_get_functiondef(oid) from pg_proc where pronamespace = 'sales'::regnamespace and prokind <> 'a' order by 1",
  "select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal",
  "select polname, pg_get_expr(polqual, polrelid) from pg_policy",
  "select has_column_privilege('pg_monitor', 'sales.customers', 'name', 'select'), has_function_privilege('pg_monitor', 'sales.total_of(int)', 'execute')",
  "select extname, obj_description('sales'::regnamespace) from pg_extension order by 1",
];

/** Statements that fill a database of a MySQL. */
export const mysqlContent: string[] = [
  "create function f() returns int reads sql data return (select count(*) from files where id > 100)",
  `create procedure p(in n int, out m int) modifies sql data comment 'Ä'
    begin declare exit handler for sqlexception rollback; set m = n * 2; insert into parts values (n, '2022-01-01'); end`,
  `create event later on schedule every 1 day starts '2037-01-01 00:00:00' on completion preserve comment '${UNICODE}'
    do begin delete from parts; call p(1, @x); end`,
  "create event never on schedule at '2036-01-01 00:00:00' disable do delete from parts",
  `create table customers (id int primary key auto_increment, name varchar(190) not null unique, tags json, kind enum('a', 'ö'),
    fulltext key (name)) comment = '${UNICODE}'`,
  `create table bought (id bigint unsigned primary key auto_increment, customer int not null, total decimal(12, 2) check (total >= 0),
    twice decimal(13, 2) as (total * 2) stored, at timestamp(6) not null default '2024-02-29 12:00:00.123456',
    foreign key (customer) references customers (id) on delete cascade) auto_increment = 1000`,
  "create table files (id int primary key, name longtext, content longblob)",
  "create table parts (id int, d date, primary key (id, d)) partition by range (year(d)) (partition p0 values less than (2020), partition p1 values less than maxvalue)",
  "create table `odd ``name`` x` (`a b` double, `select` bit(9))",
  "create table versions (id int primary key, x int) with system versioning",
  "create table places (p point not null, spatial index (p))",
  "create table old (t text) engine = myisam default charset = latin1",
  "create sequence numbers start with 41 increment by 7 nocache",
  "create view totals as select name, sum(total) as total from customers join bought on customer = customers.id group by name",
  "create sql security invoker view a_view_of_the_view as select * from totals where total > f()",
  "create trigger sell before insert on bought for each row set new.total = coalesce(new.total, 7)",
  `insert into customers (name, tags, kind) values ('${UNICODE}', '{"a": [1, null]}', 'ö'), ('', null, null)`,
  "insert into bought (customer, total) values (1, 10.5), (2, null)",
  `insert into files values (1, '${UNICODE}', x'${EVERY_BYTE}'), (2, '${escaped(AWKWARD)}', null), (3, '', '')`,
  // In a dump a zero has two bytes, so this row exceeds the default packet of a MariaDB there.
  `insert into files values (4, repeat('ä', ${MEGABYTE}), repeat(x'00', ${12 * MEGABYTE}))`,
  "insert into parts values (1, '2019-01-01'), (2, '2021-01-01')",
  "insert into `odd ``name`` x` values (0.1, b'101010101'), (null, null)",
  "insert into versions values (1, 1)",
  "insert into places values (point(1, 2))",
  "insert into old values ('Größe')",
  "do nextval(numbers)",
];

/** Queries about the content of such a database. */
export const mysqlQuestions: string[] = [
  "select * from customers order by id",
  "select * from bought order by id",
  "select id, md5(name), length(name), md5(content), length(content) from files order by id",
  "select * from parts order by id",
  "select `a b`, hex(`select`) from `odd ``name`` x` order by 1",
  "select * from versions",
  "select astext(p) from places",
  "select * from old",
  "select * from a_view_of_the_view order by name",
  "select next_not_cached_value, increment from numbers",
  "select table_name, table_type, engine, table_collation, table_comment, create_options from information_schema.tables where table_schema = database() order by 1",
  "select routine_name, routine_type, routine_definition, sql_data_access, definer, routine_comment from information_schema.routines where routine_schema = database() order by 1",
  "select trigger_name, event_manipulation, action_timing, action_statement, definer from information_schema.triggers where trigger_schema = database()",
  "select event_name, event_definition, interval_value, starts, execute_at, on_completion, status, definer, event_comment from information_schema.events where event_schema = database() order by 1",
];

/** Escapes a text for a literal in which backslashes have a meaning. */
function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
}
