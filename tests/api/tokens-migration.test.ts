// A store of an earlier release: its tokens know the tokens that made them.
import { expect, test } from "bun:test";
import { migrate } from "../../src/store/migrate.ts";
import { migrations } from "../../src/store/migrations.ts";
import { freshDatabase } from "../support/engines/postgres.ts";

test("the migration finds the makers of tokens in the audit, and revokes nothing", async () => {
  const db = await freshDatabase(migrations.filter(({ name }) => name < "0038"));
  await db.unsafe(`
    insert into organizations (id, name) values ('org-a', 'a');
    insert into users (id, email, name, password_hash) values ('user-a', 'a@example.com', 'A', '');
    insert into tokens (id, organization_id, name, token_hash, abilities, user_id, revoked_at)
    values ('token-1', 'org-a', 't', '1', '{*}', 'user-a', now()), ('token-2', 'org-a', 't', '2', '{*}', null, null),
           ('token-3', 'org-a', 't', '3', '{*}', null, null), ('token-4', 'org-a', 't', '4', '{*}', null, null);
    insert into audit (organization_id, token_id, user_id, action, resource_kind, resource_id)
    values ('org-a', null, 'user-a', 'create', 'tokens', 'token-1'),
           ('org-a', 'token-1', null, 'create', 'tokens', 'token-2'),
           ('org-a', 'token-2', null, 'create', 'tokens', 'token-3'),
           ('org-a', 'token-1', null, 'revoke', 'tokens', 'token-4');`);
  await migrate(db, migrations);
  const tokens = await db`
    select id, maker_id as "makerId", user_id as "userId", revoked_at is null as "isValid" from tokens order by id`;
  expect([...tokens]).toEqual([
    { id: "token-1", makerId: null, userId: "user-a", isValid: false },
    { id: "token-2", makerId: "token-1", userId: "user-a", isValid: true },
    { id: "token-3", makerId: "token-2", userId: "user-a", isValid: true },
    { id: "token-4", makerId: null, userId: null, isValid: true },
  ]);
  await db.close();
});
