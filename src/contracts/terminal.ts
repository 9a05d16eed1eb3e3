// A terminal over a socket: binary frames are bytes, text frames are JSON. Either side sends only so many bytes before
// the other has acknowledged some, so that an endless output waits in its program, and not in the memory of a process.
import * as z from "zod/mini";

/** The most bytes that are sent before they are acknowledged. */
export const TERMINAL_WINDOW = 256 * 1024;

/** Bytes that were taken are acknowledged when there are so many of them. */
export const ACKNOWLEDGED_AT = TERMINAL_WINDOW / 4;

/** The most bytes of a frame that comes from a client. */
export const MAX_CLIENT_FRAME = 64 * 1024;

const length = z.int().check(z.minimum(1), z.maximum(1_000));

export const terminalSizeSchema = z.strictObject({ columns: length, rows: length });

/** The size of the window that shows a terminal. */
export type TerminalSize = z.infer<typeof terminalSizeSchema>;

export const acknowledgementSchema = z.strictObject({
  /** How many further bytes of the other side were taken. */
  acknowledged: z.int().check(z.minimum(1), z.maximum(2 * TERMINAL_WINDOW)),
});

/** A text frame of the client. */
export const clientFrameSchema = z.union([terminalSizeSchema, acknowledgementSchema]);

export const terminalEndSchema = z.strictObject({
  /** Null for a program that was killed or never ran. */
  exit_code: z.nullable(z.int()),
  /** Why it did not end by itself, as a sentence. */
  reason: z.nullable(z.string()),
});

/** The last frame of a terminal. */
export type TerminalEnd = z.infer<typeof terminalEndSchema>;

/** A text frame of the host. */
export const hostFrameSchema = z.union([
  acknowledgementSchema,
  /** The command has its terminal; its keys reach it from now on. */
  z.strictObject({ running: z.literal(true) }),
  terminalEndSchema,
]);

export type HostFrame = z.infer<typeof hostFrameSchema>;
