import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * For an answer that has no end of its own. Clients that have closed their side of a connection get
 * their answers all the same; of one that is gone the server would know only when it writes again.
 */
export function endWithClient(c: { env?: unknown }, body: ReadableStream): void {
  const { incoming, outgoing } = (c.env ?? {}) as {
    incoming?: IncomingMessage
    outgoing?: ServerResponse
  }
  if (!incoming || !outgoing) return
  const { socket } = incoming
  const leave = () => void outgoing.destroy()
  if (socket.readableEnded) leave()
  // Nobody would read it, and so notice.
  if (outgoing.destroyed) return void body.cancel()
  socket.once('end', leave)
  outgoing.once('close', () => socket.off('end', leave))
}
