// Actions and kinds of activity in words for people.
import { kinds } from "../../kinds.ts";

const VERBS: Record<string, string> = {
  create: "created",
  update: "changed",
  delete: "deleted",
  suspend: "put to sleep",
  "rotate-credentials": "made new credentials of",
  "delete-key": "deleted a key of",
  "rotate-secret": "made a new secret of",
  accept: "accepted",
  revoke: "revoked",
};

const NOUNS: Record<string, string> = {
  ...Object.fromEntries(kinds.map(({ name, noun }) => [name, noun])),
  databaseSchemas: "database",
  websocketApplications: "WebSocket application",
  organizations: "organization",
  members: "member",
  invitations: "invitation",
  tokens: "token",
};

export const ACTIONS = Object.keys(VERBS);
export const KINDS = Object.keys(NOUNS);

/** `rotate-secret` is `made a new secret of`; an action without a word of its own stays as it is. */
export function verbOf(action: string): string {
  return VERBS[action] ?? action.replaceAll("-", " ");
}

/** `websocketApplications` is `WebSocket application`. */
export function nounOf(kind: string): string {
  return NOUNS[kind] ?? kind;
}
