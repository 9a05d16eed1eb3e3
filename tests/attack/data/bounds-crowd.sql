-- A hundred thousand users of a cluster of Postgres, as the administrator writes them: a customer would take ten minutes.

insert into pg_authid (oid, rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
  rolbypassrls, rolconnlimit, rolpassword)
select (1000000 + n)::oid, 'role-' || n, false, true, false, false, true, false, false, -1,
  (select rolpassword from pg_authid where rolname = 'app')
from generate_series(1, 100000) n;

-- Its owner has shut it out, so nothing is missing.
create role batch login connection limit 0 password 'secret';
