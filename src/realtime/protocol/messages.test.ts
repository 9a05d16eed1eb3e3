// Every frame of a client becomes a message or a fault, and nothing throws.
import { describe, expect, test } from "bun:test";
import { readMessage } from "./messages.ts";

const read = (value: unknown) => readMessage(JSON.stringify(value));

describe("a frame", () => {
  test.each([
    "",
    " ",
    "{",
    "null",
    "1",
    '"text"',
    "[]",
    "{}",
    "[".repeat(200_000),
    '{"event":1}',
    '{"event":null}',
    '{"event":""}',
    '{"event":"pusher:subscribe"}',
    '{"event":"pusher:subscribe","data":""}',
    '{"event":"pusher:subscribe","data":"null"}',
    '{"event":"pusher:subscribe","data":[]}',
    '{"event":"pusher:subscribe","data":{"channel":1}}',
    '{"event":"pusher:subscribe","data":{"channel":"a","channel_data":{}}}',
    '{"event":"pusher:unsubscribe","data":{}}',
    '{"event":"pusher:nonsense"}',
    '{"event":"client-x"}',
    '{"event":"client-x","channel":1}',
    '{"event":"x","channel":"private-a"}',
  ])("%p is a fault", (text) => expect(readMessage(text).kind).toBe("fault"));

  test("asks to subscribe with its data as an object or as a text", () => {
    const data = { channel: "presence-a", auth: "key:signature", channel_data: '{"user_id":"1"}' };
    const message = { kind: "subscribe" as const, channel: "presence-a", auth: "key:signature" };
    for (const each of [data, JSON.stringify(data)])
      expect(read({ event: "pusher:subscribe", data: each })).toEqual({
        ...message,
        channelData: '{"user_id":"1"}',
      });
    expect(read({ event: "pusher:subscribe", data: { channel: "a" } })).toMatchObject({ channel: "a" });
  });

  test("without user data signs in with an empty text", () => {
    expect(read({ event: "pusher:signin", data: {} })).toMatchObject({ kind: "signin", userData: "" });
  });

  test("is a ping or a pong with any data or none", () => {
    for (const data of [undefined, {}, "", null, 7]) {
      expect(read({ event: "pusher:ping", data })).toEqual({ kind: "ping" });
      expect(read({ event: "pusher:pong", data })).toEqual({ kind: "pong" });
    }
  });
});
