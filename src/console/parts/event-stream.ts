// The events of an organization as a tab gets them. All tabs of a browser share one stream, since a browser opens only
// six connections to a host: one tab follows the events and passes them on to the others.
import { type EventResource, PilviClient, PilviError } from "../../sdk/index.ts";
import { canLead, leadInTurn } from "./leadership.ts";

/** Whether changes appear by themselves. */
export type LiveState = "connecting" | "live" | "offline";

/** What a tab does with the stream. */
interface StreamSink {
  onEvent(event: EventResource): void;
  onState(state: LiveState): void;
  /**
   * Events may have been missed, by this tab or by the tab that leads, so all that is shown has to be read again. Not
   * called when the stream of a new page opens at once, since the page is being read at that moment.
   */
  onGap(): void;
  /** The session has ended, or may not read the organization any more. */
  onRefusal(): void;
}

/** What the leading tab says to the others, and what a tab asks the leading tab. Ids of events are numbers in text. */
type Message =
  | { type: "asked" }
  | { type: "state"; state: LiveState; position: string | undefined }
  | { type: "opened"; after: string | undefined }
  | { type: "event"; event: EventResource };

const RETRY_MS = 2_000;
const ASK_MS = 3_000;
/** A tab may be busy for a moment. A frozen tab answers nothing. */
const MAX_UNANSWERED = 3;

/** Follows until the signal is aborted, or until the session is refused. */
export async function followEvents(
  organizationId: string,
  sink: StreamSink,
  signal: AbortSignal,
): Promise<void> {
  // Tabs that still show another organization have a stream of their own.
  const name = `pilvi events ${organizationId}`;
  const follower = new Follower(sink, canLead() ? new BroadcastChannel(name) : undefined);
  const onResume = () => sink.onGap();
  document.addEventListener("resume", onResume);
  try {
    await (canLead() ? leadInTurn(name, follower, signal) : follower.lead(signal));
  } finally {
    document.removeEventListener("resume", onResume);
    follower.close();
  }
}

/** A tab, which leads at times. */
class Follower {
  readonly #sink: StreamSink;
  readonly #channel: BroadcastChannel | undefined;
  #state: LiveState = "connecting";
  /** The id of the latest event that this tab knows of. */
  #position: string | undefined;
  #isLeading = false;
  /** Whether the page is being read at this moment: nothing has kept this tab from a stream so far. */
  #isNew = true;
  #unanswered = 0;

  constructor(sink: StreamSink, channel: BroadcastChannel | undefined) {
    this.#sink = sink;
    this.#channel = channel;
    sink.onState(this.#state);
    channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => this.#receive(data));
    this.#send({ type: "asked" });
  }

  close(): void {
    this.#channel?.close();
  }

  readonly awaitSilence = async (signal: AbortSignal): Promise<void> => {
    const silent = Promise.withResolvers<void>();
    this.#unanswered = 0;
    const timer = setInterval(() => {
      // A hidden tab has no reader who waits.
      if (document.visibilityState === "hidden") return;
      if (this.#unanswered === MAX_UNANSWERED) return silent.resolve();
      this.#unanswered += 1;
      this.#isNew = false;
      this.#send({ type: "asked" });
    }, ASK_MS);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
    await silent.promise;
  };

  readonly lead = async (signal: AbortSignal): Promise<void> => {
    this.#isLeading = true;
    const client = new PilviClient({ url: location.origin, fetch: this.#watchedFetch });
    while (!signal.aborted) {
      try {
        await this.#follow(client, signal);
      } catch (error) {
        if (error instanceof PilviError && [401, 403].includes(error.status)) return this.#sink.onRefusal();
        // The latest known event is not kept any more.
        if (error instanceof PilviError && error.status === 410) this.#position = undefined;
        this.#become("offline");
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  };

  readonly onLost = (): void => {
    this.#isLeading = false;
    // What happened while this tab was frozen went past it.
    this.#sink.onGap();
  };

  async #follow(client: PilviClient, signal: AbortSignal): Promise<void> {
    const after = this.#position;
    let isOpen = false;
    const onPosition = (id: string) => {
      this.#position = id;
      if (!isOpen) this.#opened(after);
      isOpen = true;
      this.#send({ type: "state", state: this.#state, position: id });
    };
    const options = { signal, onPosition, ...(after !== undefined && { after }) };
    for await (const event of client.events.follow(options)) {
      this.#take(event);
      this.#send({ type: "event", event });
    }
  }

  #opened(after: string | undefined): void {
    this.#send({ type: "opened", after });
    if (after === undefined && !this.#isNew) this.#sink.onGap();
    this.#isNew = false;
  }

  #receive(message: Message): void {
    if (this.#isLeading) {
      if (message.type === "asked") {
        this.#send({ type: "state", state: this.#state, position: this.#position });
      }
      return;
    }
    this.#isNew = false;
    if (message.type !== "asked") this.#unanswered = 0;
    if (message.type === "event" && isLater(message.event.id, this.#position)) this.#take(message.event);
    if (message.type === "opened" && this.#lacks(message.after)) this.#sink.onGap();
    if (message.type === "state") {
      if (message.position !== undefined) this.#position = message.position;
      this.#become(message.state);
    }
  }

  /** Whether events between the latest known event and the beginning of a new stream are unknown here. */
  #lacks(after: string | undefined): boolean {
    return after === undefined || isLater(after, this.#position);
  }

  #take(event: EventResource): void {
    this.#position = event.id;
    this.#sink.onEvent(event);
  }

  #become(state: LiveState): void {
    if (state === this.#state) return;
    this.#state = state;
    if (state === "offline") this.#isNew = false;
    this.#sink.onState(state);
    if (this.#isLeading) this.#send({ type: "state", state, position: this.#position });
  }

  #send(message: Message): void {
    this.#channel?.postMessage(message);
  }

  /** The client connects again by itself; only its requests show when. */
  readonly #watchedFetch = async (url: string, init: RequestInit): Promise<Response> => {
    try {
      const response = await fetch(url, init);
      this.#become(response.ok ? "live" : "offline");
      return response;
    } catch (error) {
      if (init.signal?.aborted !== true) this.#become("offline");
      throw error;
    }
  };
}

function isLater(id: string, other: string | undefined): boolean {
  return other === undefined || BigInt(id) > BigInt(other);
}
