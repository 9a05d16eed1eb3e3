// The kind of a channel, by its name. Prefixes count at the beginning only and with their dash, so no name can pretend.
import { CHANNEL_NAME, MAX_CHANNEL_NAME_LENGTH, SERVER_TO_USER } from "../../contracts/channel-name.ts";

/** The rules and the behaviour of a channel. */
export interface ChannelKind {
  /**
   * Whether a subscriber must prove that its application lets it in; presence and encrypted channels are private too.
   */
  isPrivate: boolean;
  isPresence: boolean;
  isEncrypted: boolean;
  /** Whether a new subscriber gets the last event. */
  isCache: boolean;
  /** The user whose own channel it is, or null. */
  userId: string | null;
}

/** The prefixes with their kinds, longer prefixes first. */
const PREFIXES: [prefix: string, kind: Omit<ChannelKind, "userId">][] = [
  ["private-encrypted-cache-", { isPrivate: true, isPresence: false, isEncrypted: true, isCache: true }],
  ["private-encrypted-", { isPrivate: true, isPresence: false, isEncrypted: true, isCache: false }],
  ["private-cache-", { isPrivate: true, isPresence: false, isEncrypted: false, isCache: true }],
  ["private-", { isPrivate: true, isPresence: false, isEncrypted: false, isCache: false }],
  ["presence-cache-", { isPrivate: true, isPresence: true, isEncrypted: false, isCache: true }],
  ["presence-", { isPrivate: true, isPresence: true, isEncrypted: false, isCache: false }],
  ["cache-", { isPrivate: false, isPresence: false, isEncrypted: false, isCache: true }],
];

const kindsByPrefix = PREFIXES.map(([prefix, kind]): [string, ChannelKind] => [
  prefix,
  Object.freeze({ ...kind, userId: null }),
]);

const PUBLIC: ChannelKind = Object.freeze({
  isPrivate: false,
  isPresence: false,
  isEncrypted: false,
  isCache: false,
  userId: null,
});

/** The kind of a channel, or null when no channel can have the name. */
export function channelKindOf(name: string): ChannelKind | null {
  if (name.length === 0 || name.length > MAX_CHANNEL_NAME_LENGTH) return null;
  if (name.startsWith(SERVER_TO_USER)) {
    const userId = name.slice(SERVER_TO_USER.length);
    return userId === "" ? null : { ...PUBLIC, isPrivate: true, userId };
  }
  if (!CHANNEL_NAME.test(name)) return null;
  return kindsByPrefix.find(([prefix]) => name.startsWith(prefix))?.[1] ?? PUBLIC;
}
