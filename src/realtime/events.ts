// What happens in an application and is of interest outside: webhooks are made of it.

/** Told at once and synchronously; whoever listens decides what becomes of it. */
export interface ApplicationEvents {
  channelOccupied(channel: string): void;
  channelVacated(channel: string): void;
  memberAdded(channel: string, userId: string): void;
  memberRemoved(channel: string, userId: string): void;
  clientEvent(event: ClientEvent): void;
  /** Once until the next event of the channel, however many subscribe. */
  cacheMiss(channel: string): void;
  /** At most every 5 s for a channel of more than 100 subscribers; 0 when the last one leaves. */
  subscriptionCount(channel: string, count: number): void;
}

export interface ClientEvent {
  channel: string;
  event: string;
  /** As the receivers get it: a text stays itself, anything else is JSON. */
  data: string;
  socketId: string;
  /** The sender's, on a presence channel. */
  userId?: string;
}
