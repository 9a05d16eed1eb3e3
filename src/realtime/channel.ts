// An occupied channel: how many subscribe to it, and on a presence channel who.
import type { ChannelKind } from "./protocol/channel-name.ts";

/** A user on a presence channel, on however many connections. */
interface Member {
  /** What the application says of the user, as JSON; undefined when it says nothing. */
  info: unknown;
  connections: number;
}

export class Channel {
  readonly name: string;
  readonly kind: ChannelKind;
  /** What sockets join to get its frames. */
  readonly topic: string;
  subscriptionCount = 0;
  readonly members = new Map<string, Member>();
  /** When the count was last told, in milliseconds; only of interest for large channels. */
  countToldAt = 0;
  /** Whether the application was told, since its last event, that there is none for new subscribers. */
  isMissTold = false;
  /** The pending telling of a count that has changed since. */
  countTimer: ReturnType<typeof setTimeout> | null = null;

  constructor(name: string, kind: ChannelKind, topic: string) {
    this.name = name;
    this.kind = kind;
    this.topic = topic;
  }

  /** Users on a presence channel; each counts once. */
  get userCount(): number {
    return this.members.size;
  }

  /** @returns whether it is the user's first connection here. */
  addMember(userId: string, info: unknown): boolean {
    const member = this.members.get(userId);
    if (member !== undefined) {
      member.connections += 1;
      return false;
    }
    this.members.set(userId, { info, connections: 1 });
    return true;
  }

  /** @returns whether it was the user's last connection here. */
  removeMember(userId: string): boolean {
    const member = this.members.get(userId);
    if (member === undefined) return false;
    member.connections -= 1;
    if (member.connections > 0) return false;
    this.members.delete(userId);
    return true;
  }
}
