// Has the runtime read from a socket, or leave arriving bytes in the kernel.
import type { Socket } from "bun";

export class ReadingSwitch {
  /** A socket of the runtime reads from its beginning. */
  #isOn = true;

  turn(isOn: boolean, socket: Pick<Socket, "resume" | "pause">): void {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    if (isOn) socket.resume();
    else socket.pause();
  }

  /** Goes on with a socket that the runtime may have stopped by itself. */
  restart(socket: Pick<Socket, "resume">): void {
    this.#isOn = true;
    socket.resume();
  }
}
