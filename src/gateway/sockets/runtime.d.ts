// What Bun's sockets have and its types lack.
declare module "bun" {
  interface Socket {
    /** The number of the descriptor; -1 when it is closed. */
    readonly fd: number;
  }

  /** Accepts at a socket that listens already, which the listener owns from then on. */
  function listen<Data = undefined>(options: FdSocketOptions<Data>): SocketListener<Data>;

  /** Takes a connected socket, which the runtime opens before this call returns. */
  function connect<Data = undefined>(options: FdSocketOptions<Data>): Promise<Socket<Data>>;
}
