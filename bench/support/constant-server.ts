// A bare `Bun.serve` in a process of its own, whose answer is a constant: the limit for any API. Arguments: the status
// and the size of the answer in bytes. Prints its port.
const [status, size] = process.argv.slice(2).map(Number);
const body = "x".repeat(size ?? 0);
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    // The body of a create is read as well, so that both sides take in the same bytes.
    if (request.body !== null) await request.arrayBuffer();
    return new Response(body, { status: status ?? 200, headers: { "content-type": "application/json" } });
  },
});
console.log(server.port);
