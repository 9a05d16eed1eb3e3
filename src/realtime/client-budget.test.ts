// What clients may have sent to others between two checks of the buffers: by channel, and in the whole cluster.
import { expect, test } from "bun:test";
import { Channel } from "./channel.ts";
import { ClientBudget } from "./client-budget.ts";
import { channelKindOf } from "./protocol/channel-name.ts";

const MIB = 1024 ** 2;
const EVENT = "x".repeat(10_000);

function channelOf(name: string, subscriptions: number): Channel {
  const kind = channelKindOf(name);
  if (kind === null) throw new Error(`there can be no channel ${name}`);
  const channel = new Channel(name, kind, name);
  channel.subscriptionCount = subscriptions;
  return channel;
}

/** Takes events until one is refused. @returns how many there were. */
function taken(budget: ClientBudget, channel: Channel, frame = EVENT): number {
  let count = 0;
  while (budget.takeEvent(channel, frame)) count += 1;
  return count;
}

test("the events of a channel are bounded by their bytes, and a check gives it as many again", () => {
  const budget = new ClientBudget();
  const channel = channelOf("private-a", 10);
  const most = Math.ceil(MIB / 2 / EVENT.length);
  expect([taken(budget, channel), taken(budget, channel)]).toEqual([most, 0]);
  expect(taken(budget, channelOf("private-b", 10))).toBe(most);
  budget.renew();
  expect(taken(budget, channel)).toBe(most);
});

test("bytes are counted as they are sent, and not characters", () => {
  const text = "\u20ac".repeat(1_000);
  expect(taken(new ClientBudget(), channelOf("private-a", 1), text)).toBe(Math.ceil(MIB / 2 / 3_000));
});

test("the events of all channels are bounded by the bytes for all receivers together", () => {
  const budget = new ClientBudget();
  const channels = Array.from({ length: 20 }, (_, index) => channelOf(`private-${index}`, 400));
  const count = channels.reduce((sum, channel) => sum + taken(budget, channel), 0);
  expect(count).toBe(Math.ceil((64 * MIB) / (EVENT.length * 400)));
  budget.renew();
  expect(taken(budget, channels[0] as Channel)).toBeGreaterThan(0);
});

test("an event passes to however many receivers when nothing was sent before", () => {
  const budget = new ClientBudget();
  expect(taken(budget, channelOf("private-a", 10_000))).toBe(1);
});
