// Actions and kinds of activity in words for people.
import { kinds } from "../../kinds.ts";

const VERBS: Record<string, string> = {
  create: "created",
  update: "changed",
  delete: "deleted",
  suspend: "put to sleep",
  stop: "stopped",
  cancel: "cancelled",
  refresh: "refreshed",
  purge: "deleted the backups of",
  "rotate-credentials": "made new credentials of",
  "end-grace": "ended the former credentials of",
  "purge-edge-cache": "purged the edge cache of",
  "rotate-deploy-key": "made a new deploy key of",
  "delete-key": "deleted a key of",
  "rotate-secret": "made a new secret of",
  query: "ran a statement in",
  "cancel-query": "cancelled a statement in",
  "end-session": "ended a session of",
  "reset-statements": "reset the statistics of statements of",
  publish: "published a test event in",
  accept: "accepted",
  revoke: "revoked",
  leave: "left as",
  "sign-in": "signed in",
  "fail-sign-in": "failed to sign in",
  "sign-out": "signed out",
  "change-password": "changed the password",
  redeem: "used",
};

/** Actions that are said without what was acted on, which is the account itself. */
const WHOLE = new Set(["sign-in", "fail-sign-in", "sign-out", "change-password"]);

const NOUNS: Record<string, string> = {
  ...Object.fromEntries(
    kinds.flatMap(({ name, noun, partNouns = {} }) => [[name, noun]].concat(Object.entries(partNouns))),
  ),
  organizations: "organization",
  members: "member",
  invitations: "invitation",
  tokens: "token",
  users: "account",
  sessions: "session",
  passkeys: "passkey",
  "sign-in-links": "one-time link",
};

export const ACTIONS = Object.keys(VERBS);
export const KINDS = Object.keys(NOUNS);

/** `rotate-secret` is `made a new secret of`; an action without a word of its own stays as it is. */
export function verbOf(action: string): string {
  return VERBS[action] ?? action.replaceAll("-", " ");
}

/** Whether the verb says all, such as `signed in`. */
export function isWhole(action: string): boolean {
  return WHOLE.has(action);
}

/** `websocketApplications` is `WebSocket application`. */
export function nounOf(kind: string): string {
  return NOUNS[kind] ?? kind;
}
