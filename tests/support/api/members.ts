// Members of the default organization for tests of the API, and tokens that they make.
import { listMembers } from "../../../src/resources/members/store.ts";
import type { TestApi } from "./api.ts";
import { memberOf, type Browser } from "./browser.ts";

export interface TestMember {
  id: string;
  userId: string;
  email: string;
  browser: Browser;
}

let members = 0;

/** An address that nobody has. */
export function newAddress(): string {
  members += 1;
  return `member${members}@example.com`;
}

/** A new member, by an invitation of the owner. */
export async function newMember(api: TestApi, owner: Browser, role: string): Promise<TestMember> {
  const email = newAddress();
  const browser = await memberOf(api, owner, role, email);
  const organizationId = (await owner.send("GET", "/meta/organization")).body.data.id;
  const row = (await listMembers(api.db, organizationId)).find((each) => each.email === email);
  if (row === undefined) throw new Error("no member");
  return { id: row.id, userId: row.userId, email, browser };
}

/** A new token, with its text. */
export async function newToken(by: Browser, abilities = ["*"]): Promise<{ id: string; token: string }> {
  const { body } = await by.send("POST", "/tokens", { name: "t", abilities });
  return { id: body.data.id, token: String(body.data.attributes.token) };
}
