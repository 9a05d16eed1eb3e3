-- What a customer makes of a cluster of Postgres so that the host has much to read, each part as `app`. The part before
-- the last colon is its name, then the versions it is for: `16-17` for these and those between, or `all`. Customers make
-- roles from 16 on. A last word `taken` or `refused` says what the engine does with the statements, or the test proves
-- nothing.

--! a verifier of 72 MB: 16-17 taken
create role largest login;
do $x$ begin execute format('alter role largest password %L', 'SCRAM-SHA-256$4096:' || repeat('QUFB', 18000000)
  || '$' || encode(decode(repeat('01', 32), 'hex'), 'base64') || ':' || encode(decode(repeat('01', 32), 'hex'), 'base64')); end $x$;

--! a verifier longer than Postgres 18 keeps: 18-18 refused
create role largest login;
do $x$ begin execute format('alter role largest password %L', 'SCRAM-SHA-256$4096:' || repeat('QUFB', 200)
  || '$' || encode(decode(repeat('01', 32), 'hex'), 'base64') || ':' || encode(decode(repeat('01', 32), 'hex'), 'base64')); end $x$;

--! an own verifier of 72 MB: 14-15 taken
do $x$ begin execute format('alter role app password %L', 'SCRAM-SHA-256$4096:' || repeat('QUFB', 18000000)
  || '$' || encode(decode(repeat('01', 32), 'hex'), 'base64') || ':' || encode(decode(repeat('01', 32), 'hex'), 'base64')); end $x$;

--! a verifier of 9 MB: 16-17 taken
create role large login;
do $x$ begin execute format('alter role large password %L', 'SCRAM-SHA-256$4096:' || repeat('QUFB', 2300000)
  || '$' || encode(decode(repeat('01', 32), 'hex'), 'base64') || ':' || encode(decode(repeat('01', 32), 'hex'), 'base64')); end $x$;

--! fourteen verifiers of 2 MB: 16-17 taken
do $x$ begin for n in 1..14 loop execute format('create role %I login password %L', 'large' || n, 'SCRAM-SHA-256$4096:' || repeat('QUFB', 500000)
  || '$' || encode(decode(repeat('01', 32), 'hex'), 'base64') || ':' || encode(decode(repeat('01', 32), 'hex'), 'base64')); end loop; end $x$;

--! the longest verifiers that are kept: 16-18 taken
do $x$ begin for n in 1..2100 loop execute format('create role %I login password %L', E'\u0001\u0001\u0001\u0001\u0001\u0001\u0001\u0001\u0001\u0001' || n, 'SCRAM-SHA-256$4096:' || repeat('QUFB', 90)
  || '$' || encode(decode(repeat('01', 32), 'hex'), 'base64') || ':' || encode(decode(repeat('01', 32), 'hex'), 'base64')); end loop; end $x$;

--! names that a terminal obeys: 16-18 taken
do $x$ begin execute format('create role %I login', E'\u001b]0;pwned\u0007\u001b[2J' || repeat('x', 40)); end $x$;

--! comments of 8 MB: all taken
do $x$ begin execute format('comment on database main is %L', repeat('x', 8000000)); end $x$;
do $x$ begin execute format('comment on role app is %L', repeat('x', 8000000)); exception when insufficient_privilege then null; end $x$;

--! settings of 8 MB: all taken
do $x$ begin execute format('alter role app set search_path = %L', repeat('x', 8000000)); end $x$;

--! errors and notices of 8 MB: all taken
do $x$ begin raise log '%', repeat('x', 8000000); end $x$;
do $x$ begin raise warning '%', repeat('x', 7000000); end $x$;

--! an own verifier of 9 MB: 14-15 taken
do $x$ begin execute format('alter role app password %L', 'SCRAM-SHA-256$4096:' || repeat('QUFB', 2300000)
  || '$' || encode(decode(repeat('01', 32), 'hex'), 'base64') || ':' || encode(decode(repeat('01', 32), 'hex'), 'base64')); end $x$;
