// An occupied channel: the number of its subscribers, and on a presence channel its members.
import type { ChannelKind } from "./protocol/channel-name.ts";

/** A user on a presence channel, on however many connections. */
interface Member {
  /** The application's information about the user, as JSON; undefined without it. */
  info: unknown;
  connections: number;
}

export class Channel {
  readonly name: string;
  readonly kind: ChannelKind;
  /** The topic that sockets join to get the channel's frames. */
  readonly topic: string;
  subscriptionCount = 0;
  readonly members = new Map<string, Member>();
  /** When the count was last sent, in milliseconds of the steady clock: the wall clock may be set back. */
  countSentAt = -Infinity;
  /** The count that was last given to the application; 0 before the first. */
  reportedCount = 0;
  /** The bytes that clients have sent to each subscriber since a check, and the check's number: `ClientBudget` counts. */
  clientBytes = 0;
  clientBytesRound = 0;
  /** The timer that sends a changed count. */
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
