// A store of an earlier release: its resources count for the quotas as new resources do.
import { expect, test } from "bun:test";
import { instanceSizes } from "../../src/resources/applications/instances/sizes.ts";
import { recordUnknownAllocations } from "../../src/resources/index.ts";
import { migrate } from "../../src/store/migrate.ts";
import { migrations } from "../../src/store/migrations.ts";
import { freshDatabase } from "../support/engines/postgres.ts";

test("the migration of a store without quotas computes the sums of its resources", async () => {
  const db = await freshDatabase(migrations.filter(({ name }) => name < "0004"));
  await db.unsafe(`
    insert into organizations (id, name) values ('org-a', 'a'), ('org-b', 'b');
    insert into tokens (id, organization_id, name, token_hash, abilities) values ('token-a', 'org-a', 't', 'h', '{*}');
    insert into hosts (id, name) values ('host-1', 'test');
    insert into caches (
      id, organization_id, host_id, name, type, region, size, auto_upgrade_enabled, is_public, eviction_policy,
      uses_hibernation, hibernation_timeout, port, username, sealed_password, status)
    select 'cache-' || n, 'org-a', 'host-1', 'c', 'hosted_redis', 'us-east-1', '250mb', false, false, 'noeviction',
      false, 5, 20000 + n, 'app', 'sealed', 'available'
    from generate_series(1, 3) n;
    insert into audit (organization_id, token_id, action, resource_kind, resource_id)
    values ('org-a', 'token-a', 'create', 'caches', 'cache-1'), ('org-a', 'token-b', 'delete', 'caches', 'cache-1');
    insert into databases (
      id, organization_id, host_id, name, type, region, engine_name, version, config, port, username, sealed_password,
      status)
    values ('db-1', 'org-b', 'host-1', 'd', 'platform_mysql', 'us-east-1', 'mariadb', '10.11',
      '{"size": "mysql-flex-1gb"}', 20010, 'app', 'sealed', 'available');
    insert into websocket_servers (
      id, organization_id, host_id, name, type, region, max_connections, connection_distribution_strategy, port, status)
    values ('ws-1', 'org-b', 'host-1', 'w', 'builtin', 'us-east-1', 200, 'evenly', 20011, 'available');`);
  await migrate(db, migrations);
  await recordUnknownAllocations(db);
  const sums = await db`
    select owner, caches::int, databases::int, websockets::int, (memory_bytes / 1024 / 1024)::int as mebibytes,
           connections::int
    from quota_usage order by owner`;
  expect([...sums]).toEqual([
    { owner: "org-a", caches: 3, databases: 0, websockets: 0, mebibytes: 750, connections: 0 },
    { owner: "org-b", caches: 0, databases: 1, websockets: 1, mebibytes: 1024, connections: 200 + 85 },
    { owner: "token-a", caches: 1, databases: 0, websockets: 0, mebibytes: 250, connections: 0 },
  ]);
  await db.close();
});

test("the migration of a store whose environments took nothing counts them with their processes and ports", async () => {
  const db = await freshDatabase(migrations.filter(({ name }) => name < "0043"));
  await db.unsafe(`
    insert into organizations (id, name, origin_id) values ('org-a', 'a', null), ('org-b', 'b', 'org-a');
    insert into hosts (id, name) values ('host-1', 'test');
    insert into applications (id, organization_id, host_id, name, slug, region)
    values ('app-1', 'org-a', 'host-1', 'shop', 'shop', 'eu-central-1'),
           ('app-2', 'org-b', 'host-1', 'blog', 'blog', 'eu-central-1');
    insert into environments (id, application_id, name, slug, branch, status, vanity_name, settings, sealed_variables)
    values ('env-1', 'app-1', 'production', 'production', 'main', 'running', 'v-1', '{}', 'sealed'),
           ('env-2', 'app-1', 'staging', 'staging', 'next', 'stopped', 'v-2', '{}', 'sealed'),
           ('env-3', 'app-2', 'production', 'production', 'main', 'deleting', 'v-3', '{}', 'sealed');
    insert into audit (organization_id, token_id, action, resource_kind, resource_id)
    values ('org-a', 'token-a', 'create', 'applications', 'app-1'), ('org-a', 'token-b', 'create', 'environments', 'env-2'),
           ('org-a', 'token-c', 'update', 'environments', 'env-1');
    insert into process_groups (id, environment_id, name, type, settings)
    values ('inst-1', 'env-1', 'App', 'app', '{"size": "flex.g-1vcpu-512mb", "replicas": 3}'),
           ('inst-2', 'env-1', 'Mail', 'service', '{"size": "pro.m-2vcpu-8gb"}'),
           ('inst-3', 'env-2', 'App', 'app', '{"size": "flex.c-1vcpu-256mb"}');
    insert into background_processes (id, process_group_id, type, processes, command)
    values ('process-1', 'inst-1', 'custom', 2, 'node mail.js'), ('process-2', 'inst-1', 'scheduler', 1, 'schedule');
    insert into instances (id, kind, resource_id, host_id, port)
    values ('proc-1', 'environments', 'env-1', 'host-1', 20000), ('proc-2', 'environments', 'env-3', 'host-1', 20001),
           ('proc-3', 'environments', 'env-1', 'host-1', null);`);
  await migrate(db, migrations);
  const sums = await db`
    select owner, applications::int, caches::int, (memory_bytes / 1024 / 1024)::int as mebibytes
    from quota_usage order by owner`;
  // Three replicas with two processes beside each, and the scheduler.
  const [ofFirst, ofSecond] = [10 * 512, 256];
  expect([...sums]).toEqual([
    { owner: "org-a", applications: 3, caches: 0, mebibytes: ofFirst + ofSecond },
    { owner: "token-a", applications: 1, caches: 0, mebibytes: ofFirst },
    { owner: "token-b", applications: 1, caches: 0, mebibytes: ofSecond },
  ]);
  expect([...(await db`select id, family_id from instances order by id`)]).toEqual([
    { id: "proc-1", family_id: "org-a" },
    { id: "proc-2", family_id: "org-a" },
    { id: "proc-3", family_id: null },
  ]);
  expect(await db`select from usage_sizes`).toHaveLength(0);
  await db.close();
});

test("the memory that the migration reads from the name of a size is that of the size", async () => {
  const db = await freshDatabase(migrations.filter(({ name }) => name < "0043"));
  await db`insert into organizations (id, name) values ('org-a', 'a')`;
  await db`insert into hosts (id, name) values ('host-1', 'test')`;
  await db`
    insert into applications (id, organization_id, host_id, name, slug, region)
    values ('app-1', 'org-a', 'host-1', 'shop', 'shop', 'eu-central-1')`;
  for (const { name } of instanceSizes) {
    await db`
      insert into environments (
        id, application_id, name, slug, branch, status, vanity_name, settings, sealed_variables)
      values (${name}, 'app-1', ${name}, ${name}, 'main', 'running', ${name}, '{}', 'sealed')`;
    await db`
      insert into process_groups (id, environment_id, name, type, settings)
      values (${name}, ${name}, 'App', 'app', ${{ size: name }}::jsonb)`;
  }
  await migrate(db, migrations);
  const rows = await db<{ id: string; memory: number }[]>`
    select resource_id as id, memory_bytes::float8 as memory from allocations order by resource_id`;
  const wanted = instanceSizes.map(({ name, memoryBytes }) => ({
    id: `environment-${name}`,
    memory: memoryBytes,
  }));
  expect([...rows].toSorted(byId)).toEqual(wanted.toSorted(byId));
  await db.close();
});

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
