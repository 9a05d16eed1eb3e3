// The events of an application that matter outside it: webhooks are made of them.

/** Called at once and synchronously; the listener decides what becomes of an event. */
export interface ApplicationEvents {
  channelOccupied(channel: string): void;
  channelVacated(channel: string): void;
  memberAdded(channel: string, userId: string): void;
  memberRemoved(channel: string, userId: string): void;
  clientEvent(event: ClientEvent): void;
  /** At most once in half an hour until the next event of the channel, however often clients subscribe. */
  cacheMiss(channel: string): void;
  /**
   * At most every 5 s for a channel of more than 100 subscribers; 0 when the last subscriber leaves.
   * @param formerCount the last that was given since the channel is occupied, or 0.
   */
  subscriptionCount(channel: string, count: number, formerCount: number): void;
}

export interface ClientEvent {
  channel: string;
  event: string;
  /** As the receivers get it: a text stays as it is, anything else is JSON. */
  data: string;
  socketId: string;
  /** The sender's user, on a presence channel. */
  userId?: string;
}
