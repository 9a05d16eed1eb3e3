// The settings of an application while another person changes them.
import { expect, test } from "bun:test";
import { createElement, useState } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import type { ApiDocument } from "../../../console/parts/form-fields.ts";
import type { WebsocketApplicationResource } from "../../../sdk/index.ts";
import { useSettings } from "./application-settings.tsx";

type Attributes = WebsocketApplicationResource["attributes"];
type Settings = ReturnType<typeof useSettings>;

const schema = {
  type: "object",
  properties: { name: { type: "string" }, max_connections: { type: "integer" } },
};
const document = {
  paths: {
    "/websocket-applications/{id}": {
      patch: { requestBody: { content: { "application/json": { schema } } } },
    },
  },
  components: { schemas: {} },
} as ApiDocument;

const opened = {
  name: "website",
  max_connections: 100,
  allowed_origins: ["https://a.example"],
  webhooks: [],
} as unknown as Attributes;
const newer: Attributes = {
  ...opened,
  max_connections: 500,
  allowed_origins: ["https://b.example"],
  webhooks: [{ url: "https://hooks.example", event_types: [] }],
};

/** The settings after a step of the person here, and after the newer attributes have come. */
function settingsAfter(step: (settings: Settings) => void): Settings {
  let last: Settings | undefined;
  function Form() {
    const [renders, setRenders] = useState(0);
    const settings = useSettings(document, renders === 0 ? opened : newer);
    if (renders === 0) step(settings);
    if (renders === 0) setRenders(1);
    last = settings;
    return null;
  }
  renderToStaticMarkup(createElement(Form));
  if (last === undefined) throw new Error("The form was not shown.");
  return last;
}

test("what others changed meanwhile is not sent", () => {
  expect(settingsAfter(() => undefined)).toMatchObject({ change: {}, isChanged: false });
  expect(settingsAfter(({ give }) => give("name", "shop")).change).toEqual({ name: "shop" });
  expect(settingsAfter(({ setOrigins }) => setOrigins("https://c.example\n")).change).toEqual({
    allowed_origins: ["https://c.example"],
  });
});

test("a value that is as it was is not sent", () => {
  expect(settingsAfter(({ give }) => give("max_connections", 100)).change).toEqual({});
});
