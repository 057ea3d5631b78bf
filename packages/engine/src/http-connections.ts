/**
 * An HTTP server that loses no answer: neither because its client has closed its own side and waits,
 * nor because the server ends while requests are on their way.
 */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A request may be on its way on a connection that looks idle, and is answered too. */
const ON_ITS_WAY_MS = 50

type Answers = Set<ServerResponse>

/**
 * Call it before the server listens. Returns how to end the server: no connection is accepted any
 * more, requests that have come are answered with word that it was the last answer, and what takes
 * longer than the time of grace is cut off.
 */
export function loseNoAnswers(server: Server, graceMs: number): () => Promise<void> {
  // Otherwise Node ends a connection with its client's side, whatever is still to be answered. It has
  // had this property since its first versions, and documents it nowhere.
  Object.assign(server, { httpAllowHalfOpen: true })
  /** What is under way on each; more than one answer if the client does not wait for them. */
  const connections = new Map<Socket, Answers>()
  let closing: Promise<void> | undefined

  server.on('connection', (socket) => {
    connections.set(socket, new Set())
    socket.once('close', () => connections.delete(socket))
  })
  // Before the request is answered.
  server.prependListener('request', ({ socket }, response) => {
    const answers = connections.get(socket)
    if (!answers) return
    answers.add(response)
    if (closing) announceEnd(answers)
    response.once('close', () => {
      answers.delete(response)
      if (closing) endIfIdle(socket, answers)
    })
  })

  async function close(): Promise<void> {
    const late = setTimeout(() => server.closeAllConnections(), graceMs)
    // Node would end them at once, and knows neither those that have not asked yet nor those that
    // become idle later.
    server.closeIdleConnections = () => {}
    await new Promise((resolve) => {
      server.close(resolve)
      for (const [socket, answers] of connections) {
        announceEnd(answers)
        endIfIdle(socket, answers)
      }
    })
    clearTimeout(late)
  }
  return () => (closing ??= close())
}

/** By the last one: Node ends the connection after the one that says so. */
function announceEnd(answers: Answers): void {
  const last = [...answers].at(-1)
  for (const answer of answers) answer.shouldKeepAlive = answer !== last
}

/** After a moment, because the client was not told: it may be asking again. */
function endIfIdle(socket: Socket, answers: Answers): void {
  if (answers.size > 0) return
  const end = () => {
    if (answers.size === 0) socket.destroy()
  }
  // What has come meanwhile is read before the next immediate, however busy the process is.
  setTimeout(() => setImmediate(end), ON_ITS_WAY_MS).unref()
}
