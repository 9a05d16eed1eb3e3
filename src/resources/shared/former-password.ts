// The password that a rotation with a grace period has replaced: how rows keep it, and until when it is valid.
import type { FormerPassword as UserFormerPassword } from "../../contracts/users.ts";
import { sealLoginKey } from "../../lib/login-keys.ts";
import type { Vault } from "../../lib/secrets.ts";
import type { PasswordForms } from "../../lib/verifiers.ts";

/** A former password as it is stored. */
export interface StoredFormerPassword {
  /** Sealed for the resource, as the current password is. */
  sealed: string;
  /** ISO 8601 in UTC. */
  expiresAt: string;
}

/** A former password in a row that was read. */
export interface FormerPassword extends StoredFormerPassword {
  /** Whether it was no longer valid when the row was read. One run of a reconciler sticks to that. */
  isOver: boolean;
}

/** The column of a former password, as SQL; `r` is the alias of every kind's table. */
export const FORMER_PASSWORD = `r.former_password ||
  jsonb_build_object('isOver', (r.former_password ->> 'expiresAt')::timestamptz <= now())`;

/** The passwords of a row. */
export interface Passwords {
  id: string;
  sealedPassword: string;
  formerPassword: FormerPassword | null;
}

/** The former password while it is valid. */
export function validFormer({ formerPassword }: Pick<Passwords, "formerPassword">): FormerPassword | null {
  return formerPassword?.isOver === false ? formerPassword : null;
}

/** When the former password ends; undefined when none is valid. */
export function graceEnd(row: Pick<Passwords, "formerPassword">): Date | undefined {
  const former = validFormer(row);
  return former === null ? undefined : new Date(former.expiresAt);
}

/** The end of the grace period as `meta` shows it. */
export function renderFormer(row: Pick<Passwords, "formerPassword">): { expires_at: string } | null {
  const former = validFormer(row);
  return former && { expires_at: former.expiresAt };
}

/**
 * The verifiers of a row's passwords, as members of a user in a spec.
 * @param formsOf the forms of a password that the engine needs, without a login key for an engine that takes several
 *   passwords itself.
 */
export function verifiersOf(
  row: Passwords,
  vault: Vault,
  formsOf: (password: string) => Pick<PasswordForms, "verifier"> & Partial<PasswordForms>,
): { verifier: string; former?: UserFormerPassword } {
  const { verifier, loginKey } = formsOf(vault.open(row.sealedPassword, row.id));
  const former = validFormer(row);
  if (former === null) return { verifier };
  const forms = formsOf(vault.open(former.sealed, row.id));
  const sealedKey = loginKey && forms.loginKey && sealLoginKey(loginKey, forms.loginKey, verifier);
  const { expiresAt } = former;
  return { verifier, former: { verifier: forms.verifier, expiresAt, ...(sealedKey && { sealedKey }) } };
}
