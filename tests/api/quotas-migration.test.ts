// A store of an earlier release: its resources count for the quotas as new resources do.
import { expect, test } from "bun:test";
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
