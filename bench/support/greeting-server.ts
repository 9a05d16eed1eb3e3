// A bare WebSocket server in a process of its own, which greets its clients. Prints its port.
const { port } = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request, server) => (server.upgrade(request) ? undefined : new Response(null, { status: 426 })),
  websocket: {
    open: (socket) => void socket.send('{"event":"pusher:connection_established"}'),
    message: () => undefined,
  },
});
console.log(port);
